package main

import (
	"errors"
	"fmt"
	"log"
	"net/http"
)

// problem is an error with its answer, an RFC 9457 document (C30).
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string { return p.Detail }

// titles are those of RFC 9110; net/http still has the older ones of 413 and 422.
var titles = map[int]string{
	404: "Not Found", 405: "Method Not Allowed", 415: "Unsupported Media Type", 413: "Content Too Large", 400: "Bad Request",
	422: "Unprocessable Content", 426: "Upgrade Required", 502: "Bad Gateway", 503: "Service Unavailable", 500: "Internal Server Error",
}

func newProblem(status int, detail string, parts ...any) *problem {
	return &problem{"about:blank", titles[status], status, fmt.Sprintf(detail, parts...)}
}

func badRequest(detail string, parts ...any) *problem { return newProblem(400, detail, parts...) }

var (
	errNothingHere = newProblem(404, "nothing is here")                              // C31
	errMethod      = newProblem(405, "the method is not allowed here")               // C32
	errMediaType   = newProblem(415, "the body must be application/json")            // C33
	errTooLarge    = newProblem(413, "the body must not exceed %d bytes", maxBody)   // C34
	errNotJSON     = badRequest("the body must be JSON in UTF-8")                    // C35
	errName        = newProblem(422, "name must be a string of 1 to 255 characters") // C36
	errNoUpgrade   = newProblem(426, "upgrade to a WebSocket")                       // C24
	errNoUpstream  = newProblem(502, "the upstream did not answer")                  // C37
	errNoDatabase  = newProblem(503, "the database did not answer")                  // C38
	errInternal    = newProblem(500, "internal error")                               // C39
)

// writeProblem is the one mapping from errors to answers.
func writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // C40: the client left, nobody reads an answer
	}
	var known *problem
	if !errors.As(err, &known) {
		log.Printf("%s %s: %v", r.Method, r.URL.Path, err) // C39
		known = errInternal
	}
	writeJSON(w, "application/problem+json", known.Status, known)
}
