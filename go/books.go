package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
)

const (
	maxBody   = 65536            // C23, bytes
	maxName   = 255              // C23, code points
	bodyLimit = 20 * time.Second // C27
)

type book struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (s *service) readBook(w http.ResponseWriter, r *http.Request) error {
	id, valid := wholeNumber(chi.URLParam(r, "id"), 1, maxID)
	if !valid {
		return badRequest("id must be a whole number from 1 to %d", maxID)
	}
	var found book
	err := s.database.queryRow(r.Context(), s.database.selectBook, []any{id}, &found.ID, &found.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return newProblem(http.StatusNotFound, "book %d does not exist", id)
	}
	if err != nil {
		return err
	}
	return ok(w, found)
}

func (s *service) addBook(w http.ResponseWriter, r *http.Request) error {
	body, err := jsonBody(w, r)
	if err != nil {
		return err
	}
	name, err := nameIn(body)
	if err != nil {
		return err
	}
	id, err := s.database.insert(r.Context(), s.database.insertBook, name)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/books/"+strconv.FormatInt(id, 10))
	return writeJSON(w, "application/json", http.StatusCreated, book{id, name})
}

// jsonBody reads a body within its limits, chunked or not, and checks in the order 415, 413 (C30).
func jsonBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	connection := http.NewResponseController(w)
	connection.SetReadDeadline(time.Now().Add(bodyLimit))
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(mediaType), "application/json") {
		return nil, errMediaType
	}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close") // else net/http reads it before it answers
		return nil, errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, errNotJSON // it broke off, or came too late
	}
	connection.SetReadDeadline(time.Time{}) // else it would cancel an answer that takes longer
	return body, nil
}

// nameIn checks in the order 400, 422. A map keeps keys apart that a struct would not: "Name" is not "name" (C23).
func nameIn(body []byte) (string, error) {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(body, &fields)
	var malformed *json.SyntaxError
	if errors.As(err, &malformed) || !utf8.Valid(body) {
		return "", errNotJSON
	}
	var name string
	if err != nil || json.Unmarshal(fields["name"], &name) != nil || loneSurrogate(fields["name"]) {
		return "", errName
	}
	if length := utf8.RuneCountInString(name); length < 1 || length > maxName {
		return "", errName
	}
	return name, nil
}

// loneSurrogate finds escaped halves of a pair in a JSON string, which encoding/json silently replaces by U+FFFD.
func loneSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first, second := escapedUnit(text[i:]), rune(-1)
		if !utf16.IsSurrogate(first) {
			i++ // over the escaped character, which may be a backslash
			continue
		}
		if second = escapedUnit(text[i+6:]); utf16.DecodeRune(first, second) == utf8.RuneError {
			return true
		}
		i += 11
	}
	return false
}

// escapedUnit is the UTF-16 unit of a \uXXXX that text begins with, or -1.
func escapedUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}
