package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const maxMS = 60_000 // C22

func (s *service) hello(w http.ResponseWriter, _ *http.Request) error {
	write(w, "text/plain; charset=utf-8", http.StatusOK, []byte("hello"))
	return nil
}

func (s *service) sleep(w http.ResponseWriter, r *http.Request) error {
	p := parametersOf(r)
	ms := p.whole("ms", 0, maxMS)
	if p.err != nil {
		return p.err
	}
	if err := wait(r.Context(), ms); err != nil {
		return err
	}
	return ok(w, struct {
		SleptMS int `json:"slept_ms"`
	}{ms})
}

func (s *service) sleepQuery(w http.ResponseWriter, r *http.Request) error {
	p := parametersOf(r)
	ms := p.whole("ms", 0, maxMS)
	if p.err != nil {
		return p.err
	}
	if err := wait(r.Context(), ms); err != nil {
		return err
	}
	var now string // the driver writes all six digits of NOW(6)
	if err := s.database.queryRow(r.Context(), s.database.now, nil, &now); err != nil {
		return err
	}
	return ok(w, struct {
		SleptMS int    `json:"slept_ms"`
		Now     string `json:"now"`
	}{ms, now})
}

func (s *service) slowQuery(w http.ResponseWriter, r *http.Request) error {
	p := parametersOf(r)
	ms := p.whole("ms", 0, maxMS)
	if p.err != nil {
		return p.err
	}
	ctx := r.Context()
	err := leavable(ctx, func() error {
		var interrupted int
		err := s.database.queryRow(ctx, s.database.sleep, []any{float64(ms) / 1000}, &interrupted)
		if err == nil && interrupted != 0 {
			return fmt.Errorf("%w: it broke off the sleep", errNoDatabase) // as it does when it is stopped
		}
		return err
	})
	if err != nil {
		return err
	}
	return ok(w, struct {
		QueriedMS int `json:"queried_ms"`
	}{ms})
}

// wait ends with ctx, that is, when the client leaves (C40).
func wait(ctx context.Context, ms int) error {
	timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leavable lets a request end with ctx although its statement, already sent, runs on and keeps its connection (C40).
// It is for statements that may last; the others are over before a client's leaving is noticed.
func leavable(ctx context.Context, statement func() error) error {
	done := make(chan error, 1)
	go func() { done <- statement() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
