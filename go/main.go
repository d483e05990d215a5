// Command go-service is the Go service of "No Silver Bullet": chi on net/http, database/sql on MySQL.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	keepAlive  = 75 * time.Second // C62
	headLimit  = 10 * time.Second // C27
	grace      = 8 * time.Second  // C41
	maxBacklog = 4096             // C62
)

func main() {
	os.Exit(run(context.Background(), os.Getenv, os.Stderr))
}

// run serves until a signal comes or ctx ends, and returns the exit code.
func run(ctx context.Context, getenv func(string) string, stderr io.Writer) int {
	settings, err := readSettings(getenv, runtime.GOMAXPROCS(0)) // the runtime has read the cgroup's limit
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2 // C42
	}
	runtime.GOMAXPROCS(settings.workers) // C64
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()

	backlog := min(maxBacklog, somaxconn())
	listener, err := listen(net.JoinHostPort(settings.host, strconv.Itoa(settings.port)), backlog)
	if err != nil {
		fmt.Fprintf(stderr, "HOST=%q and PORT=\"%d\" cannot be bound: %v\n", settings.host, settings.port, err)
		return 2
	}
	database := openDatabase(settings)
	defer database.pool.Close()
	go database.keepFull(ctx)

	stopping, endStreams := context.WithCancel(context.Background())
	defer endStreams()
	streams := &streams{stopping: stopping}
	service := &service{
		settings: settings, database: database, upstream: newUpstream(settings), backlog: backlog, streams: streams,
	}
	server := &http.Server{
		Handler:                      service.routes(),
		ReadHeaderTimeout:            headLimit,
		IdleTimeout:                  keepAlive,
		Protocols:                    onlyHTTP1(),
		DisableGeneralOptionsHandler: true, // C21: OPTIONS is a method like any other
	}
	server.RegisterOnShutdown(endStreams)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		fmt.Fprintln(stderr, err)
		return 1
	case <-ctx.Done():
	}

	stop() // a second signal ends the process at once
	finish, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := server.Shutdown(finish); errors.Is(err, context.DeadlineExceeded) {
		server.Close() // C41: what is not finished by now is cut off
	}
	streams.waitForSockets()
	return 0
}

// listen binds address with the backlog asked for: net.Listen takes somaxconn, however large, and a second listen(2) only
// sets the length of the queue anew.
func listen(address string, backlog int) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	socket, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		return nil, err
	}
	var refused error
	err = socket.Control(func(fd uintptr) { refused = syscall.Listen(int(fd), backlog) })
	return listener, errors.Join(err, refused)
}

// somaxconn is the kernel's limit of a backlog.
func somaxconn() int {
	text, err := os.ReadFile("/proc/sys/net/core/somaxconn")
	if err != nil {
		return syscall.SOMAXCONN // not Linux
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return syscall.SOMAXCONN
	}
	return limit
}

func onlyHTTP1() *http.Protocols {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return protocols
}
