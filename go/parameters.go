package main

import (
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

func (p *parameters) whole(name string, low, high int) int {
	number, valid := wholeNumber(p.once(name), low, high)
	if !valid && p.err == nil {
		p.err = newProblem(400, "%s must be given once, as a whole number from %d to %d", name, low, high)
	}
	return number
}

// oneOf takes the words in the order of the contract's sentence.
func (p *parameters) oneOf(name string, words ...string) string {
	word := p.once(name)
	if !slices.Contains(words, word) && p.err == nil {
		p.err = newProblem(400, "%s must be given once, as %s", name, strings.Join(words, " or "))
	}
	return word
}

// once is empty, which no parameter may be, where the name is not given exactly once.
func (p *parameters) once(name string) string {
	if values := p.values[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// wholeNumber accepts ASCII 0|[1-9][0-9]* within the bounds, and nothing else that strconv would forgive.
func wholeNumber(text string, low, high int) (int, bool) {
	number, err := strconv.Atoi(text)
	return number, err == nil && strconv.Itoa(number) == text && low <= number && number <= high
}
