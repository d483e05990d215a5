package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
)

// problem is an error that is its answer, an RFC 9457 document (C30).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

var errNoDatabase = newProblem(503, "the database did not answer")                   // C38
var renamed = map[int]string{413: "Content Too Large", 422: "Unprocessable Content"} // RFC 9110 renamed them

func newProblem(status int, detail string, parts ...any) *problem {
	return &problem{"about:blank", cmp.Or(renamed[status], http.StatusText(status)), status, fmt.Sprintf(detail, parts...)}
}

func (p *problem) Error() string { return p.Detail }

func (p *problem) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, p.Status, "application/problem+json", p)
}

// handler returns what is answered as JSON: a value, an error, or nothing where it has answered itself.
type handler func(w http.ResponseWriter, r *http.Request) (any, error)

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	value, err := h(w, r)
	known, is := errors.AsType[*problem](err)
	switch {
	case err == nil && value != nil:
		writeJSON(w, http.StatusOK, "application/json", value)
	case err == nil || r.Context().Err() != nil: // C40: the client left, nobody reads an answer
	case is:
		known.ServeHTTP(w, r)
	default:
		slog.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		newProblem(500, "internal error").ServeHTTP(w, r) // C39
	}
}

// writeJSON leaves the Content-Length to net/http, which adds it as long as an answer has no more than 2 KB.
func writeJSON(w http.ResponseWriter, status int, contentType string, value any) {
	body, _ := json.Marshal(value) // our own types can be encoded
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	w.Write(body)
}
