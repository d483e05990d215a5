package main

import (
	"net/http"
	"sync/atomic"
	"time"
)

// stats counts every request but those of the service endpoints (C4).
type stats struct {
	requests, busyNanoseconds, inFlight atomic.Int64
}

func (s *stats) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/runtime", "/stats":
			next.ServeHTTP(w, r)
			return
		}
		begun := time.Now()
		s.inFlight.Add(1)
		defer func() {
			s.busyNanoseconds.Add(int64(time.Since(begun)))
			s.requests.Add(1)
			s.inFlight.Add(-1)
		}()
		next.ServeHTTP(w, r)
	})
}

type statsAnswer struct {
	RequestsTotal    int64   `json:"requests_total"`
	BusySecondsTotal float64 `json:"busy_seconds_total"`
	InFlight         int64   `json:"in_flight"`
	PoolInUse        int     `json:"pool_in_use"`
	PoolWaiting      int64   `json:"pool_waiting"`
}

func (s *service) readStats(w http.ResponseWriter, _ *http.Request) error {
	return ok(w, statsAnswer{
		RequestsTotal:    s.stats.requests.Load(),
		BusySecondsTotal: time.Duration(s.stats.busyNanoseconds.Load()).Seconds(),
		InFlight:         s.stats.inFlight.Load(),
		PoolInUse:        len(s.database.lent),
		PoolWaiting:      s.database.waiting.Load(),
	})
}
