package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

// service is what the handlers share.
type service struct {
	settings settings
	database *database
	upstream *http.Client
	counters counters
	stopping context.Context // ends streams (C41)
	sockets  sync.WaitGroup  // net/http forgets a connection that became a WebSocket
}

func (s *service) healthz(http.ResponseWriter, *http.Request) (any, error) {
	return json.RawMessage(`{"status":"ok"}`), nil
}

func (s *service) readyz(w http.ResponseWriter, r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), 1500*time.Millisecond) // leaves room within the 2 s of C2
	defer cancel()
	if s.database.pool.QueryRowContext(ctx, "SELECT 1").Scan(new(int)) != nil {
		return nil, errNoDatabase // whatever it is, the service is not ready
	}
	return s.healthz(w, r)
}

// runtimeAnswer is that of C3; what has no counterpart in Go is null.
const runtimeAnswer = `{
	"runtime": "Go", "runtime_version": %q, "framework": "chi", "framework_version": %q, "server": "net/http",
	"driver": "go-sql-driver/mysql", "driver_version": %q, "concurrency_model": "goroutines", "handled_by": null,
	"workers": %d, "pool_size": %d, "cancels_on_disconnect": true,
	"settings": {"backlog": null, "keep_alive_s": %.0f, "max_connections": null, "server_threads": null,
		"db_acquire_timeout_ms": %d, "db_statements": "prepared", "upstream_timeout_ms": %d, "upstream_max_connections": null,
		"upstream_idle_s": null, "offload": "none needed", "heap_max_mib": null, "gc": null}}`

func (s *service) runtime(http.ResponseWriter, *http.Request) (any, error) {
	build, _ := debug.ReadBuildInfo() // every program that is built from a module has it
	versions := map[string]string{}
	for _, module := range build.Deps {
		versions[module.Path] = strings.TrimPrefix(module.Version, "v")
	}
	return json.RawMessage(fmt.Sprintf(runtimeAnswer, strings.TrimPrefix(runtime.Version(), "go"),
		versions["github.com/go-chi/chi/v5"], versions["github.com/go-sql-driver/mysql"],
		runtime.GOMAXPROCS(0), s.database.pool.Stats().MaxOpenConnections, keepAlive.Seconds(),
		s.database.limit.Milliseconds(), s.upstream.Timeout.Milliseconds())), nil
}

func (s *service) stats(http.ResponseWriter, *http.Request) (any, error) {
	busy := time.Duration(s.counters.busyNanoseconds.Load()).Seconds()
	const answer = `{"requests_total":%d,"busy_seconds_total":%.9f,"in_flight":%d,"pool_in_use":%d,"pool_waiting":%d}`
	return json.RawMessage(fmt.Sprintf(answer, s.counters.requests.Load(), busy, s.counters.inFlight.Load(),
		s.database.pool.Stats().InUse, s.database.waiting.Load())), nil
}
