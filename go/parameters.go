package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// parameter is one that a query must have exactly once (C22).
type parameter struct {
	name, wanted string
	valid        func(text string) bool
}

func whole(name string, low, high int) parameter {
	valid := func(text string) bool { _, within := wholeNumber(text, low, high); return within }
	return parameter{name, fmt.Sprintf("a whole number from %d to %d", low, high), valid}
}

func oneOf(name string, words ...string) parameter {
	return parameter{name, strings.Join(words, " or "), func(text string) bool { return slices.Contains(words, text) }}
}

// with checks the parameters, of which the first wrong one is named. The handler finds them in the request's Form.
func with(h handler, wanted ...parameter) handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		r.Form = r.URL.Query()
		for _, p := range wanted {
			if values := r.Form[p.name]; len(values) != 1 || !p.valid(values[0]) {
				return nil, newProblem(400, "%s must be given once, as %s", p.name, p.wanted)
			}
		}
		return h(w, r)
	}
}

// number is a parameter that has been checked.
func number(r *http.Request, name string) int {
	value, _ := strconv.Atoi(r.Form.Get(name))
	return value
}

// wholeNumber accepts ASCII 0|[1-9][0-9]* within the bounds, and nothing else that strconv would forgive.
func wholeNumber(text string, low, high int) (int, bool) {
	value, err := strconv.Atoi(text)
	return value, err == nil && strconv.Itoa(value) == text && low <= value && value <= high
}

// bookName reads the body and checks it in the order 415, 413, 400, 422 (C30).
func bookName(w http.ResponseWriter, r *http.Request) (_ string, err error) {
	const maxBody = 65_536 // bytes
	connection := http.NewResponseController(w)
	connection.SetReadDeadline(time.Now().Add(20 * time.Second)) // C27
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(mediaType), "application/json") {
		return "", newProblem(415, "the body must be application/json")
	}
	var body []byte
	if r.ContentLength <= maxBody {
		body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	}
	if r.ContentLength > maxBody || len(body) > maxBody {
		w.Header().Set("Connection", "close") // else net/http reads what is left before it answers
		return "", newProblem(413, "the body must not exceed %d bytes", maxBody)
	}
	if err != nil || !json.Valid(body) || !utf8.Valid(body) { // it broke off, came too late, or is no JSON
		return "", newProblem(400, "the body must be JSON in UTF-8")
	}
	connection.SetReadDeadline(time.Time{}) // else it would cancel an answer that takes longer
	var sent struct{ Name string }          // and nothing else: unknown keys are ignored, whatever their values
	err = json.Unmarshal(body, &sent)
	if length := utf8.RuneCountInString(sent.Name); err != nil || length < 1 || length > 255 {
		return "", newProblem(422, "name must be a string of 1 to 255 characters")
	}
	return sent.Name, nil
}
