package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// readyLimit leaves room within the two seconds of C2.
const readyLimit = 1500 * time.Millisecond

type status struct {
	Status string `json:"status"`
}

func (s *service) healthz(http.ResponseWriter, *http.Request) (any, error) { return status{"ok"}, nil }

func (s *service) readyz(_ http.ResponseWriter, r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), readyLimit)
	defer cancel()
	err := s.database.leavable(ctx, "SELECT 1", func(ctx context.Context, statement *sql.Stmt) error {
		var one int
		return statement.QueryRowContext(ctx).Scan(&one)
	})
	if err != nil {
		return nil, errNoDatabase // whatever it is, the service is not ready
	}
	return status{"ok"}, nil
}

// runtimeAnswer is that of C3; what has no counterpart in Go is null.
const runtimeAnswer = `{
	"runtime": "Go", "runtime_version": %q, "framework": "chi", "framework_version": %q, "server": "net/http",
	"driver": "go-sql-driver/mysql", "driver_version": %q, "concurrency_model": "goroutines", "handled_by": null,
	"workers": %d, "pool_size": %d, "cancels_on_disconnect": true,
	"settings": {
		"backlog": %d, "keep_alive_s": %.0f, "max_connections": null, "server_threads": null,
		"db_acquire_timeout_ms": %d, "db_statements": "prepared", "upstream_timeout_ms": %d, "upstream_max_connections": null,
		"upstream_idle_s": %.0f, "offload": "none needed", "heap_max_mib": null, "gc": null
	}
}`

func (s *service) runtime(http.ResponseWriter, *http.Request) (any, error) {
	versions := map[string]string{}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			versions[module.Path] = strings.TrimPrefix(module.Version, "v")
		}
	}
	return json.RawMessage(fmt.Sprintf(runtimeAnswer, strings.TrimPrefix(runtime.Version(), "go"),
		versions["github.com/go-chi/chi/v5"], versions["github.com/go-sql-driver/mysql"],
		runtime.GOMAXPROCS(0), s.database.pool.Stats().MaxOpenConnections, s.backlog, keepAlive.Seconds(),
		s.database.limit.Milliseconds(), s.upstream.Timeout.Milliseconds(), upstreamIdle.Seconds())), nil
}
