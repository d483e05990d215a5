package main

import (
	"net/http"
	"sync/atomic"
	"time"
)

// counters are those of every request but the service endpoints' (C4).
type counters struct{ requests, busyNanoseconds, inFlight atomic.Int64 }

func (c *counters) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/healthz", "/readyz", "/runtime", "/stats":
		default:
			begun := time.Now()
			c.inFlight.Add(1)
			defer func() {
				c.busyNanoseconds.Add(int64(time.Since(begun)))
				c.requests.Add(1)
				c.inFlight.Add(-1)
			}()
		}
		next.ServeHTTP(w, r)
	})
}
