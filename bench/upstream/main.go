// Command upstream is the neutral program behind the fan-out: it waits as long as it is asked to and answers.
// Its /hello also stands in for a service when the load generator is calibrated.
//
// It must never be the bottleneck, so it keeps one timer and one goroutine per request and nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Getenv, os.Stderr))
}

// run listens until SIGTERM or SIGINT and returns the exit code: 0 stopped, 1 could not listen, 2 a wrong setting.
func run(getenv func(string) string, stderr io.Writer) int {
	address, err := readAddress(getenv)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	listener, err := net.Listen("tcp", address) // the backlog is somaxconn: Go reads it itself
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	stop, forget := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer forget()

	server := &http.Server{
		// No timeout of any kind: services keep their connections for the length of a run (C63),
		// even those they opened and have not used yet.
		Handler:  newUpstream(),
		ErrorLog: log.New(stderr, "", log.LstdFlags),
	}
	go func() {
		<-stop.Done()
		_ = server.Close() // at once: nobody waits for an answer when a run is over
	}()
	if err := server.Serve(inTurn{listener}); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
