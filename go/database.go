package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/semaphore"
)

// database lends connections: never more than the pool has, and none later than the acquire limit (C38).
type database struct {
	pool     *sql.DB
	free     *semaphore.Weighted
	waiting  atomic.Int64
	limit    time.Duration
	prepared sync.Map // text → *sql.Stmt
}

func newDatabase(s settings) *database {
	connector, err := mysql.NewConnector(s.database)
	if err != nil {
		panic(err) // readSettings has let a wrong address pass
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(s.poolSize)
	pool.SetMaxIdleConns(s.poolSize) // C60: kept; neither idle nor life limit is the default
	return &database{pool: pool, free: semaphore.NewWeighted(int64(s.poolSize)), limit: s.acquireTimeout}
}

// open opens all connections as soon as the database answers (C60). Lost ones database/sql opens again when it needs them (C43).
func (d *database) open(ctx context.Context, size int) {
	for d.pool.Stats().OpenConnections < size && ctx.Err() == nil {
		if connection, err := d.pool.Conn(ctx); err == nil {
			defer connection.Close() // gives it back to the pool, once all are open
		} else {
			slog.Warn("the pool cannot be opened yet", "error", err)
			wait(ctx, 1000)
		}
	}
}

// leavable is lend for a statement that may last: ctx ends the request, the statement keeps its connection until its own end (C40).
func (d *database) leavable(ctx context.Context, text string, use func(*sql.Stmt) error) error {
	done := make(chan error, 1)
	go func() { done <- d.lend(ctx, text, use) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lend waits for a connection, at most until ctx ends. The statement does not end with ctx: the driver would close its connection (C40).
func (d *database) lend(ctx context.Context, text string, use func(*sql.Stmt) error) error {
	// The queue is ours: database/sql limits waiting by a statement's context alone, and does not say how many wait (C4).
	if !d.free.TryAcquire(1) {
		d.waiting.Add(1)
		ctx, cancel := context.WithTimeoutCause(ctx, d.limit, errNoDatabase)
		err := d.free.Acquire(ctx, 1)
		cancel()
		d.waiting.Add(-1)
		if err != nil {
			return context.Cause(ctx)
		}
	}
	defer d.free.Release(1)
	statement, err := d.prepare(text)
	if err == nil {
		err = use(statement)
	}
	return failure(err)
}

// prepare makes the pool's statement once. database/sql prepares it on each connection at its first use there (C61).
func (d *database) prepare(text string) (*sql.Stmt, error) {
	if statement, ok := d.prepared.Load(text); ok {
		return statement.(*sql.Stmt), nil
	}
	statement, err := d.pool.Prepare(text)
	if err != nil {
		return nil, err
	}
	first, loaded := d.prepared.LoadOrStore(text, statement)
	if loaded {
		statement.Close() // another request was first
	}
	return first.(*sql.Stmt), nil
}

// failure tells a database that does not answer (C38) from one that refuses a statement (C39).
func failure(err error) error {
	refused, is := errors.AsType[*mysql.MySQLError](err)
	leaves := is && slices.Contains([]uint16{1040, 1053, 1927}, refused.Number) // too many connections, shutdown, connection killed
	if err == nil || errors.Is(err, sql.ErrNoRows) || is && !leaves {
		return err
	}
	return errNoDatabase
}
