package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
)

// problem is an error with its answer, an RFC 9457 document (C30).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string { return p.Detail }

// renamed are titles of RFC 9110 where net/http still has those of its predecessor.
var renamed = map[int]string{413: "Content Too Large", 422: "Unprocessable Content"}

func newProblem(status int, detail string, parts ...any) *problem {
	return &problem{"about:blank", cmp.Or(renamed[status], http.StatusText(status)), status, fmt.Sprintf(detail, parts...)}
}

// Those that several places return.
var (
	errTooLarge   = newProblem(413, "the body must not exceed %d bytes", maxBody) // C34
	errNoDatabase = newProblem(503, "the database did not answer")                // C38
)

// handler returns what is answered as JSON: a value, an error, or nothing where it has answered itself.
type handler func(w http.ResponseWriter, r *http.Request) (any, error)

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if cause := recover(); cause != nil {
			writeProblem(w, r, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	switch value, err := h(w, r); {
	case err != nil:
		writeProblem(w, r, err)
	case value != nil:
		writeJSON(w, http.StatusOK, "application/json", value)
	}
}

// writeProblem is the one mapping from errors to answers.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // C40: the client left, nobody reads an answer
	}
	known, is := errors.AsType[*problem](err)
	if !is {
		slog.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		known = newProblem(500, "internal error") // C39
	}
	writeJSON(w, known.Status, "application/problem+json", known)
}

// writeJSON leaves the Content-Length to net/http, which adds it as long as an answer has no more than 2 KB.
func writeJSON(w http.ResponseWriter, status int, contentType string, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // our own types can be encoded
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	w.Write(body)
}
