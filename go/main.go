// Command go-service is the Go service of "No Silver Bullet": chi on net/http, database/sql on MySQL.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const keepAlive = 75 * time.Second // C62

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil))) // escapes what clients sent (C29), for net/http too
	if len(os.Args) > 1 && os.Args[1] == "health" {
		os.Exit(health(os.Getenv))
	}
	if err := run(context.Background(), os.Getenv); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2) // C42
	}
}

// run serves until a signal comes or ctx ends.
func run(ctx context.Context, getenv func(string) string) error {
	settings, err := readSettings(getenv)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(settings.workers) // C64
	listener, err := net.Listen("tcp", net.JoinHostPort(settings.host, strconv.Itoa(settings.port)))
	if err != nil {
		return fmt.Errorf("HOST=%q and PORT=\"%d\" cannot be bound: %w", settings.host, settings.port, err)
	}
	// C62: net.Listen takes all that the kernel allows; a second listen(2) only sets the queue's length.
	if socket, err := listener.(*net.TCPListener).SyscallConn(); err == nil {
		socket.Control(func(fd uintptr) { syscall.Listen(int(fd), settings.backlog) })
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s := &service{settings: settings, database: newDatabase(settings), upstream: newUpstream(settings), stopping: ctx}
	defer s.database.pool.Close()
	go s.database.open(ctx, settings.poolSize)
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: keepAlive} // C27, C62
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		stop() // a second signal ends the process at once
	}
	defer time.AfterFunc(8*time.Second, func() { os.Exit(0) }).Stop() // C41
	server.Shutdown(context.Background())
	s.sockets.Wait()
	return nil
}

// health is the exit code of the container's health check, whose image has no shell: whether the service beside it is ready (C2).
func health(getenv func(string) string) int {
	answer, err := http.Get("http://127.0.0.1:" + cmp.Or(getenv("PORT"), "8080") + "/readyz")
	if err != nil || answer.StatusCode != http.StatusOK {
		return 1
	}
	return 0
}
