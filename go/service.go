package main

import (
	"context"
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

func (s *service) healthz(w http.ResponseWriter, _ *http.Request) error {
	return ok(w, status{"ok"})
}

func (s *service) readyz(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyLimit)
	defer cancel()
	err := leavable(ctx, func() error {
		var one int
		return s.database.queryRow(ctx, s.database.one, nil, &one)
	})
	if err != nil {
		return errNoDatabase // whatever it is, the service is not ready
	}
	return ok(w, status{"ok"})
}

type runtimeAnswer struct {
	Runtime             string          `json:"runtime"`
	RuntimeVersion      string          `json:"runtime_version"`
	Framework           string          `json:"framework"`
	FrameworkVersion    string          `json:"framework_version"`
	Server              string          `json:"server"`
	Driver              string          `json:"driver"`
	DriverVersion       string          `json:"driver_version"`
	ConcurrencyModel    string          `json:"concurrency_model"`
	HandledBy           *string         `json:"handled_by"`
	Workers             int             `json:"workers"`
	PoolSize            int             `json:"pool_size"`
	CancelsOnDisconnect bool            `json:"cancels_on_disconnect"`
	Settings            runtimeSettings `json:"settings"`
}

type runtimeSettings struct {
	Backlog                int     `json:"backlog"`
	KeepAliveS             int     `json:"keep_alive_s"`
	MaxConnections         *int    `json:"max_connections"`
	ServerThreads          *int    `json:"server_threads"`
	DBAcquireTimeoutMS     int64   `json:"db_acquire_timeout_ms"`
	DBStatements           string  `json:"db_statements"`
	UpstreamTimeoutMS      int64   `json:"upstream_timeout_ms"`
	UpstreamMaxConnections *int    `json:"upstream_max_connections"`
	UpstreamIdleS          int     `json:"upstream_idle_s"`
	Offload                string  `json:"offload"`
	HeapMaxMiB             *int    `json:"heap_max_mib"`
	GC                     *string `json:"gc"`
}

// runtime says what is in effect; what has no counterpart in Go stays null.
func (s *service) runtime(w http.ResponseWriter, _ *http.Request) error {
	return ok(w, runtimeAnswer{
		Runtime:             "Go",
		RuntimeVersion:      strings.TrimPrefix(runtime.Version(), "go"),
		Framework:           "chi",
		FrameworkVersion:    moduleVersion("github.com/go-chi/chi/v5"),
		Server:              "net/http",
		Driver:              "go-sql-driver/mysql",
		DriverVersion:       moduleVersion("github.com/go-sql-driver/mysql"),
		ConcurrencyModel:    "goroutines",
		Workers:             runtime.GOMAXPROCS(0),
		PoolSize:            s.database.pool.Stats().MaxOpenConnections,
		CancelsOnDisconnect: true,
		Settings: runtimeSettings{
			Backlog:            s.backlog,
			KeepAliveS:         int(keepAlive.Seconds()),
			DBAcquireTimeoutMS: s.database.limit.Milliseconds(),
			DBStatements:       "prepared",
			UpstreamTimeoutMS:  s.upstream.Timeout.Milliseconds(),
			UpstreamIdleS:      int(upstreamIdle.Seconds()),
			Offload:            "none needed",
		},
	})
}

// moduleVersion is what the running program was built with.
func moduleVersion(path string) string {
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, module := range build.Deps {
			if module.Path == path {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "unknown"
}
