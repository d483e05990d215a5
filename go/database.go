package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
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
	inner, _ := mysql.NewConnector(s.database) // which has no option that the driver could refuse
	pool := sql.OpenDB(connector{inner, s.acquireTimeout})
	pool.SetMaxOpenConns(s.poolSize)
	pool.SetMaxIdleConns(s.poolSize) // C60: kept; neither idle nor life limit is the default
	return &database{pool: pool, free: semaphore.NewWeighted(int64(s.poolSize)), limit: s.acquireTimeout}
}

// connector opens connections within the acquire limit: the driver has none for a server that accepts and says nothing.
type connector struct {
	driver.Connector
	limit time.Duration
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	return c.Connector.Connect(ctx)
}

// open opens all connections as soon as the database answers (C60). Lost ones database/sql opens again on demand (C43).
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

// query reads the one row that a statement gives.
func (d *database) query(ctx context.Context, text string, values []any, into ...any) error {
	return d.lend(ctx, text, func(statement *sql.Stmt) error { return statement.QueryRow(values...).Scan(into...) })
}

// lend waits for a connection, at most until ctx ends. A statement once sent does not end with ctx: the driver would
// close its connection (C40). The queue is ours, for database/sql knows neither a limit nor how many wait (C4).
func (d *database) lend(ctx context.Context, text string, use func(*sql.Stmt) error) error {
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
	if _, refused := errors.AsType[*mysql.MySQLError](err); err == nil || refused || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return errNoDatabase
}

// prepare makes the pool's statement once. database/sql prepares it on each connection at its first use there (C61).
func (d *database) prepare(text string) (*sql.Stmt, error) {
	statement, known := d.prepared.Load(text)
	if !known {
		made, err := d.pool.Prepare(text)
		if err != nil {
			return nil, err
		}
		if statement, known = d.prepared.LoadOrStore(text, made); known {
			made.Close() // another request was first
		}
	}
	return statement.(*sql.Stmt), nil
}
