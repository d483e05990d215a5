package main

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// service is what the handlers share.
type service struct {
	settings settings
	backlog  int
	database *database
	upstream *http.Client
	counters *counters
	streams  *streams
}

// routes maps the endpoints in the order of the contract. chi matches paths exactly (C20).
func (s *service) routes() http.Handler {
	router := chi.NewRouter()
	router.Use(s.counters.count)
	get := func(path string, h handler) {
		router.Method(http.MethodGet, path, h)
		router.Method(http.MethodHead, path, h) // C21: net/http leaves the body out
	}
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)
	get("/runtime", s.runtime)
	get("/stats", s.stats)
	get("/hello", s.hello)
	get("/sleep", s.sleep)
	get("/sleep-query", s.sleepQuery)
	get("/slow-query", s.slowQuery)
	get("/books/{id}", s.getBook)
	router.Method(http.MethodPost, "/books", handler(s.newBook))
	get("/fanout", s.fanout)
	get("/compute", s.compute)
	get("/block", s.block)
	get("/events", s.events)
	router.Method(http.MethodGet, "/ws", handler(s.ws))
	// chi does not look at the path where it does not know the method, so both questions have one answer.
	refuse := handler(func(w http.ResponseWriter, r *http.Request) (any, error) {
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			if router.Match(chi.NewRouteContext(), method, r.URL.Path) {
				allowed = append(allowed, method)
			}
		}
		if allowed == nil {
			return nil, errNothingHere
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return nil, errMethod
	})
	router.NotFound(refuse.ServeHTTP)
	router.MethodNotAllowed(refuse.ServeHTTP)
	return router
}
