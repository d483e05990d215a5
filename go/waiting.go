package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"time"
)

const maxMS = 60_000 // C22

type slept struct {
	MS  int    `json:"slept_ms"`
	Now string `json:"now,omitempty"`
}

func (s *service) hello(w http.ResponseWriter, _ *http.Request) (any, error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, "hello")
	return nil, nil
}

func (s *service) sleep(_ http.ResponseWriter, r *http.Request) (any, error) {
	ms, err := waitMS(r)
	return slept{MS: ms}, err
}

func (s *service) sleepQuery(_ http.ResponseWriter, r *http.Request) (any, error) {
	ms, err := waitMS(r)
	if err != nil {
		return nil, err
	}
	var now string // the driver writes all six digits of NOW(6)
	err = s.database.query(r.Context(), "SELECT NOW(6)", func(ctx context.Context, statement *sql.Stmt) error {
		return statement.QueryRowContext(ctx).Scan(&now)
	})
	return slept{ms, now}, err
}

func (s *service) slowQuery(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := parameters{values: r.URL.Query()}
	ms := p.whole("ms", 0, maxMS)
	if p.err != nil {
		return nil, p.err
	}
	err := s.database.leavable(r.Context(), "SELECT SLEEP(?)", func(ctx context.Context, statement *sql.Stmt) error {
		var interrupted bool
		err := statement.QueryRowContext(ctx, float64(ms)/1000).Scan(&interrupted)
		if interrupted { // as the sleep is when the database stops
			return fmt.Errorf("%w: it broke off the sleep", errNoDatabase)
		}
		return err
	})
	return struct {
		MS int `json:"queried_ms"`
	}{ms}, err
}

// waitMS waits as long as the request asks for, or until the client leaves (C40).
func waitMS(r *http.Request) (int, error) {
	p := parameters{values: r.URL.Query()}
	ms := p.whole("ms", 0, maxMS)
	if p.err != nil {
		return 0, p.err
	}
	return ms, wait(r.Context(), time.Duration(ms)*time.Millisecond)
}

func wait(ctx context.Context, duration time.Duration) error {
	select {
	case <-time.After(duration):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
