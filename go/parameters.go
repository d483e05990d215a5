package main

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxID is 2^53-1, the largest whole number that JSON carries everywhere.
const maxID = 1<<53 - 1

// parameters are those of a query (C22); the first mistake is kept, so that a handler asks once, at the end.
type parameters struct {
	values url.Values
	err    error
}

func parametersOf(r *http.Request) *parameters {
	return &parameters{values: r.URL.Query()}
}

func (p *parameters) whole(name string, low, high int) int {
	if values := p.values[name]; len(values) == 1 {
		if number, ok := wholeNumber(values[0], low, high); ok {
			return number
		}
	}
	p.wrong("%s must be given once, as a whole number from %d to %d", name, low, high)
	return 0
}

// oneOf is for values named in the order of the contract's sentence.
func (p *parameters) oneOf(name string, words ...string) string {
	if values := p.values[name]; len(values) == 1 && slices.Contains(words, values[0]) {
		return values[0]
	}
	p.wrong("%s must be given once, as %s", name, strings.Join(words, " or "))
	return ""
}

func (p *parameters) wrong(detail string, parts ...any) {
	if p.err == nil {
		p.err = badRequest(detail, parts...)
	}
}

// wholeNumber accepts ASCII 0|[1-9][0-9]* within the bounds, and nothing that strconv would forgive.
func wholeNumber(text string, low, high int) (int, bool) {
	number, err := strconv.Atoi(text)
	return number, err == nil && strconv.Itoa(number) == text && low <= number && number <= high
}
