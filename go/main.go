// Command go-service is the Go service of "No Silver Bullet": chi on net/http, database/sql on MySQL.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const keepAlive = 75 * time.Second // C62

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
	listener, err := net.Listen("tcp", settings.address)
	if err != nil {
		return fmt.Errorf("HOST=%q cannot be bound: %w", settings.host, err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	s := &service{settings: settings, database: newDatabase(settings), upstream: newUpstream(settings), stopping: ctx}
	defer s.database.pool.Close()
	go s.database.open(ctx, settings.poolSize)
	server := &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: keepAlive} // C27, C62
	context.AfterFunc(ctx, func() { listener.Close() })
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	defer time.AfterFunc(8*time.Second, func() { os.Exit(0) }).Stop() // C41
	server.Shutdown(context.Background())
	s.sockets.Wait()
	return nil
}
