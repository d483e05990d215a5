// Command go-service is the Go service of "No Silver Bullet": chi on net/http, database/sql on MySQL.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	keepAlive  = 75 * time.Second // C62
	headLimit  = 10 * time.Second // C27
	grace      = 8 * time.Second  // C41
	maxBacklog = 4096             // C62
)

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil))) // escapes what clients sent (C29), for net/http too
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
	listener, backlog, err := listen(net.JoinHostPort(settings.host, strconv.Itoa(settings.port)))
	if err != nil {
		return fmt.Errorf("HOST=\"%s\" and PORT=\"%d\" cannot be bound: %w", settings.host, settings.port, err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	stopping, endStreams := context.WithCancel(context.Background())
	s := &service{settings, backlog, newDatabase(settings), newUpstream(settings), &counters{}, &streams{stopping: stopping}}
	defer s.database.pool.Close()
	go s.database.open(ctx)
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: headLimit, IdleTimeout: keepAlive}
	server.RegisterOnShutdown(endStreams)
	serving, ctx := errgroup.WithContext(ctx)
	serving.Go(func() error { return server.Serve(listener) })
	<-ctx.Done()

	stop() // a second signal ends the process at once
	late := time.AfterFunc(grace, func() { os.Exit(0) })
	defer late.Stop()
	server.Shutdown(context.Background())
	s.streams.sockets.Wait()
	if err := serving.Wait(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// listen asks for the backlog of C62: net.Listen takes all that the kernel allows; a second listen(2) only sets the queue's length.
func listen(address string) (net.Listener, int, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, 0, err
	}
	text, _ := os.ReadFile("/proc/sys/net/core/somaxconn")
	backlog, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		backlog = syscall.SOMAXCONN // not Linux
	}
	backlog = min(maxBacklog, backlog)
	socket, err := listener.(*net.TCPListener).SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	socket.Control(func(fd uintptr) { err = syscall.Listen(int(fd), backlog) })
	return listener, backlog, err
}
