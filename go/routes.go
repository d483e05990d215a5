package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
)

// service is what the handlers share.
type service struct {
	settings settings
	database *database
	upstream *http.Client
	backlog  int
	stats    stats
	streams  *streams
}

// handler answers, or returns an error for writeProblem to answer.
type handler func(w http.ResponseWriter, r *http.Request) error

// routes maps the endpoints in the order of the contract. chi matches paths exactly (C20).
func (s *service) routes() http.Handler {
	router := chi.NewRouter()
	router.Use(s.stats.count)
	get := func(path string, h handler) {
		router.Get(path, answer(h))
		router.Head(path, answer(h)) // C21: net/http leaves the body out
	}
	get("/healthz", s.healthz)
	get("/readyz", s.readyz)
	get("/runtime", s.runtime)
	get("/stats", s.readStats)
	get("/hello", s.hello)
	get("/sleep", s.sleep)
	get("/sleep-query", s.sleepQuery)
	get("/slow-query", s.slowQuery)
	get("/books/{id}", s.readBook)
	router.Post("/books", answer(s.addBook))
	get("/fanout", s.fanout)
	get("/compute", s.compute)
	get("/block", s.block)
	get("/events", s.events)
	router.Get("/ws", answer(s.echo))

	// chi comes to MethodNotAllowed with a method it does not know before it has looked at the path; 404 goes first (C30).
	router.MethodNotAllowed(answer(func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case router.Match(chi.NewRouteContext(), http.MethodHead, r.URL.Path):
			w.Header().Set("Allow", "GET, HEAD")
		case router.Match(chi.NewRouteContext(), http.MethodGet, r.URL.Path):
			w.Header().Set("Allow", "GET")
		case router.Match(chi.NewRouteContext(), http.MethodPost, r.URL.Path):
			w.Header().Set("Allow", "POST")
		default:
			return errNothingHere
		}
		return errMethod
	}))
	router.NotFound(answer(func(http.ResponseWriter, *http.Request) error { return errNothingHere }))
	return router
}

// answer gives every handler the same ending: an error or a panic becomes a problem document.
func answer(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if cause := recover(); cause != nil {
				writeProblem(w, r, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			}
		}()
		if err := h(w, r); err != nil {
			writeProblem(w, r, err)
		}
	}
}

// unescaped turns the two escapes that encoding/json insists on, though JSON does not, into what they stand for.
// Its first pair steps over an escaped backslash, so that one followed by "u2028" stays as it is.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// writeJSON writes value compactly, with nothing escaped but what JSON demands.
func writeJSON(w http.ResponseWriter, contentType string, status int, value any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	text := bytes.TrimSuffix(body.Bytes(), []byte("\n"))
	if bytes.Contains(text, []byte(`\u202`)) {
		text = []byte(unescaped.Replace(string(text)))
	}
	write(w, contentType, status, text)
	return nil
}

func ok(w http.ResponseWriter, value any) error {
	return writeJSON(w, "application/json", http.StatusOK, value)
}

// write sends a whole answer. A client that left in the meantime is no error.
func write(w http.ResponseWriter, contentType string, status int, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}
