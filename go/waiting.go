package main

import (
	"context"
	"io"
	"net/http"
	"time"
)

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
	ms := number(r, "ms")
	return slept{MS: ms}, wait(r.Context(), ms)
}

func (s *service) sleepQuery(_ http.ResponseWriter, r *http.Request) (any, error) {
	answer := slept{MS: number(r, "ms")}
	if err := wait(r.Context(), answer.MS); err != nil {
		return nil, err
	}
	return &answer, s.database.query(r.Context(), "SELECT NOW(6)", nil, &answer.Now) // the driver writes all six digits
}

func (s *service) slowQuery(_ http.ResponseWriter, r *http.Request) (any, error) {
	ms := number(r, "ms")
	err := s.database.query(r.Context(), "SELECT SLEEP(?)", []any{float64(ms) / 1000}, new(any))
	return map[string]int{"queried_ms": ms}, err
}

// wait ends when the time is over, or when the client leaves (C40).
func wait(ctx context.Context, ms int) error {
	select {
	case <-time.After(time.Duration(ms) * time.Millisecond):
	case <-ctx.Done():
	}
	return ctx.Err()
}
