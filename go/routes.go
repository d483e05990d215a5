package main

import (
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// routes maps the endpoints in the order of the contract. chi matches paths exactly (C20).
func (s *service) routes() http.Handler {
	router := chi.NewRouter()
	router.Use(s.counters.count)
	get := func(path string, h handler) {
		router.Method(http.MethodGet, path, h)
		router.Method(http.MethodHead, path, h) // C21: net/http leaves the body out
	}
	ms := whole("ms", 0, 60_000)
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)
	get("/runtime", s.runtime)
	get("/stats", s.stats)
	get("/hello", s.hello)
	get("/sleep", with(s.sleep, ms))
	get("/sleep-query", with(s.sleepQuery, ms))
	get("/slow-query", with(s.slowQuery, ms))
	get("/books/{id}", s.getBook)
	router.Method(http.MethodPost, "/books", handler(s.newBook))
	get("/fanout", with(s.fanout, whole("calls", 1, 1000), ms, oneOf("mode", "concurrent", "sequential")))
	get("/compute", with(s.compute, whole("rounds", 1, 10_000_000)))
	get("/block", with(s.block, whole("ms", 0, 1000), oneOf("offload", "false", "true")))
	get("/events", with(s.events, whole("interval_ms", 10, 60_000)))
	router.Method(http.MethodGet, "/ws", handler(s.ws))
	// chi does not look at the path where it does not know the method, so both questions have one answer.
	refuse := handler(func(w http.ResponseWriter, r *http.Request) (any, error) {
		allowed := slices.DeleteFunc([]string{http.MethodGet, http.MethodHead, http.MethodPost}, func(method string) bool {
			return !router.Match(chi.NewRouteContext(), method, r.URL.Path)
		})
		if len(allowed) == 0 {
			return nil, newProblem(404, "nothing is here")
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return nil, newProblem(405, "the method is not allowed here")
	})
	router.NotFound(refuse.ServeHTTP)
	router.MethodNotAllowed(refuse.ServeHTTP)
	return router
}
