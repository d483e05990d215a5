package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"
)

const (
	refillEvery = time.Second
	dialsAtOnce = 16 // enough to open 150 connections in a blink, too few to overrun the server's backlog
)

// database lends connections: never more than the pool has, and none later than the acquire limit (C38).
type database struct {
	pool    *sql.DB
	lent    chan struct{} // holds one token for each connection lent; its capacity is the pool's size
	waiting atomic.Int64
	limit   time.Duration

	one, now, sleep, selectBook, insertBook *statement
}

// statement is prepared on each connection at its first use there and cached by database/sql (C61).
type statement struct {
	text     string
	prepared atomic.Pointer[sql.Stmt]
}

// openDatabase connects to nothing yet (C43); keepFull does.
func openDatabase(s settings) *database {
	config := mysql.NewConfig() // asks for utf8mb4 in the handshake; no session commands follow
	config.User, config.Passwd, config.DBName = s.database.user, s.database.password, s.database.name
	config.Net, config.Addr = "tcp", s.database.address
	config.Logger = &mysql.NopLogger{} // it would log what it returns
	plain, err := mysql.NewConnector(config)
	if err != nil {
		panic(err) // the configuration above is wrong, whatever the settings
	}
	pool := sql.OpenDB(connector{plain, s.acquireTimeout})
	pool.SetMaxOpenConns(s.poolSize)
	pool.SetMaxIdleConns(s.poolSize) // C60: kept; neither idle nor life limit is the default
	return &database{
		pool:       pool,
		lent:       make(chan struct{}, s.poolSize),
		limit:      s.acquireTimeout,
		one:        &statement{text: "SELECT 1"},
		now:        &statement{text: "SELECT NOW(6)"},
		sleep:      &statement{text: "SELECT SLEEP(?)"},
		selectBook: &statement{text: "SELECT id, name FROM books WHERE id = ?"},
		insertBook: &statement{text: "INSERT INTO books (name) VALUES (?)"},
	}
}

// connector bounds the whole of connecting (the driver's own limit is for dialling alone) and marks its errors.
type connector struct {
	driver.Connector
	limit time.Duration
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	connection, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDatabase, err)
	}
	return connection, nil
}

// queryRow runs a statement that answers with one row, or returns sql.ErrNoRows.
func (d *database) queryRow(ctx context.Context, s *statement, argument []any, into ...any) error {
	return d.lend(ctx, s, func(ctx context.Context, prepared *sql.Stmt) error {
		return prepared.QueryRowContext(ctx, argument...).Scan(into...)
	})
}

// insert runs a statement and returns the id it made.
func (d *database) insert(ctx context.Context, s *statement, arguments ...any) (id int64, err error) {
	err = d.lend(ctx, s, func(ctx context.Context, prepared *sql.Stmt) error {
		result, err := prepared.ExecContext(ctx, arguments...)
		if err != nil {
			return err
		}
		id, err = result.LastInsertId()
		return err
	})
	return id, err
}

// lend waits for a connection and runs use. Waiting ends with ctx; a statement does not, for the driver would close its
// connection (C40).
func (d *database) lend(ctx context.Context, s *statement, use func(context.Context, *sql.Stmt) error) error {
	if err := d.acquire(ctx); err != nil {
		return err
	}
	defer d.release()
	ctx = context.WithoutCancel(ctx)
	prepared, err := d.prepare(ctx, s)
	if err != nil {
		return away(err)
	}
	return away(use(ctx, prepared))
}

// acquire takes a token. database/sql has no limit for waiting but a statement's context, and does not say who waits.
func (d *database) acquire(ctx context.Context) error {
	select {
	case d.lent <- struct{}{}:
		return nil
	default:
	}
	d.waiting.Add(1)
	defer d.waiting.Add(-1)
	late := time.NewTimer(d.limit)
	defer late.Stop()
	select {
	case d.lent <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return errNoDatabase
	}
}

func (d *database) release() { <-d.lent }

// prepare makes the pool's statement once, which takes a database that answers; connections prepare it by themselves.
func (d *database) prepare(ctx context.Context, s *statement) (*sql.Stmt, error) {
	if prepared := s.prepared.Load(); prepared != nil {
		return prepared, nil
	}
	prepared, err := d.pool.PrepareContext(ctx, s.text)
	if err != nil {
		return nil, err
	}
	if !s.prepared.CompareAndSwap(nil, prepared) {
		prepared.Close() // another request was first
	}
	return s.prepared.Load(), nil
}

// keepFull opens all connections at the start, and again those that were lost (C43, C60), until ctx ends.
func (d *database) keepFull(ctx context.Context) {
	tick := time.NewTicker(refillEvery)
	defer tick.Stop()
	for failed := false; ; {
		if d.pool.Stats().OpenConnections < cap(d.lent) {
			err := d.fill(ctx)
			if err != nil && !failed && ctx.Err() == nil {
				log.Printf("the pool cannot be filled, trying on: %v", err)
			}
			failed = err != nil
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// fill takes every token that is free and a connection for each, which opens those that are missing, and gives all back.
func (d *database) fill(ctx context.Context) error {
	var connections []*sql.Conn
	for free := true; free; {
		select {
		case d.lent <- struct{}{}:
			connections = append(connections, nil)
		default:
			free = false
		}
	}
	dials, dialling := errgroup.WithContext(ctx)
	dials.SetLimit(dialsAtOnce)
	for i := range connections {
		dials.Go(func() (err error) {
			connections[i], err = d.pool.Conn(dialling)
			return err
		})
	}
	err := dials.Wait()
	for _, connection := range connections {
		if connection != nil {
			connection.Close() // gives it back to the pool
		}
	}
	for _, s := range []*statement{d.one, d.now, d.sleep, d.selectBook, d.insertBook} {
		if err == nil {
			_, err = d.prepare(ctx, s) // while no request can, which would make it twice
		}
	}
	for range connections {
		d.release()
	}
	return err
}

// away tells errors of a database that is not there (C38) from those of a statement (C39).
func away(err error) error {
	const serverShutdown, connectionKilled = 1053, 1927
	var refused *mysql.MySQLError
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) ||
		errors.As(err, &refused) && (refused.Number == serverShutdown || refused.Number == connectionKilled) {
		return fmt.Errorf("%w: %w", errNoDatabase, err)
	}
	return err
}
