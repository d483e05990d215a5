package main

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// routes maps the endpoints in the order of the contract. chi matches paths exactly (C20).
func (s *service) routes() http.Handler {
	router := chi.NewRouter()
	router.Use(s.counters.count)
	router.NotFound(newProblem(404, "nothing is here").ServeHTTP)
	route := func(methods, path string, h handler) {
		router.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { // all but those that follow (C21)
			w.Header().Set("Allow", methods)
			newProblem(405, "the method is not allowed here").ServeHTTP(w, r)
		})
		for method := range strings.SplitSeq(methods, ", ") {
			router.Method(method, path, h)
		}
	}
	const get = "GET, HEAD" // net/http leaves out the body of a HEAD
	ms := whole("ms", 0, 60_000)
	route(get, "/healthz", s.healthz)
	route(get, "/readyz", s.readyz)
	route(get, "/runtime", s.runtime)
	route(get, "/stats", s.stats)
	route(get, "/hello", s.hello)
	route(get, "/sleep", with(s.sleep, ms))
	route(get, "/sleep-query", with(s.sleepQuery, ms))
	route(get, "/slow-query", with(s.slowQuery, ms))
	route(get, "/books/{id}", s.getBook)
	route("POST", "/books", s.newBook)
	route(get, "/fanout", with(s.fanout, whole("calls", 1, 1000), ms, oneOf("mode", "concurrent", "sequential")))
	route(get, "/compute", with(s.compute, whole("rounds", 1, 10_000_000)))
	route(get, "/block", with(s.block, whole("ms", 0, 1000), oneOf("offload", "false", "true")))
	route(get, "/events", with(s.events, whole("interval_ms", 10, 60_000)))
	route("GET", "/ws", s.ws)
	return router
}
