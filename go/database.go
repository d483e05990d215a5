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
		connection, err := d.pool.Conn(ctx)
		if err != nil {
			slog.Warn("the pool cannot be opened yet", "error", err)
			wait(ctx, 1000)
			continue
		}
		defer connection.Close() // gives it back to the pool, once all are open
	}
}

// query reads one row.
func (d *database) query(ctx context.Context, text string, arguments []any, row ...any) error {
	return d.lend(ctx, text, func(statement *sql.Stmt) error { return statement.QueryRow(arguments...).Scan(row...) })
}

// leavable is query for a statement that may last: ctx ends the request, the statement keeps its connection until its own end (C40).
func (d *database) leavable(ctx context.Context, text string, arguments []any, row ...any) error {
	done := make(chan error, 1)
	go func() { done <- d.query(ctx, text, arguments, row...) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// insert returns the id of the new row.
func (d *database) insert(ctx context.Context, text string, arguments ...any) (id int64, err error) {
	err = d.lend(ctx, text, func(statement *sql.Stmt) error {
		result, err := statement.Exec(arguments...)
		if err == nil {
			id, err = result.LastInsertId()
		}
		return err
	})
	return id, err
}

// lend waits for a connection, at most until ctx ends. The statement does not end with ctx: the driver would close its connection (C40).
func (d *database) lend(ctx context.Context, text string, use func(*sql.Stmt) error) error {
	if err := d.acquire(ctx); err != nil {
		return err
	}
	defer d.free.Release(1)
	statement, err := d.prepare(text)
	if err == nil {
		err = use(statement)
	}
	if away(err) {
		return errNoDatabase
	}
	return err
}

// acquire is ours: database/sql limits waiting by a statement's context alone, and does not say how many wait (C4).
func (d *database) acquire(ctx context.Context) error {
	if d.free.TryAcquire(1) {
		return nil
	}
	d.waiting.Add(1)
	defer d.waiting.Add(-1)
	ctx, cancel := context.WithTimeoutCause(ctx, d.limit, errNoDatabase)
	defer cancel()
	if d.free.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	return nil
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

// away tells a database that does not answer (C38) from one that refuses a statement (C39).
func away(err error) bool {
	if refused, is := errors.AsType[*mysql.MySQLError](err); is {
		return slices.Contains([]uint16{1040, 1053, 1927}, refused.Number) // too many connections, shutdown, connection killed
	}
	return err != nil && !errors.Is(err, sql.ErrNoRows)
}
