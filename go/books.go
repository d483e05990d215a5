package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
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

func (s *service) getBook(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, valid := wholeNumber(chi.URLParam(r, "id"), 1, maxID)
	if !valid {
		return nil, newProblem(400, "id must be a whole number from 1 to %d", maxID)
	}
	var found book
	const text = "SELECT id, name FROM books WHERE id = ?"
	err := s.database.query(r.Context(), text, func(ctx context.Context, statement *sql.Stmt) error {
		return statement.QueryRowContext(ctx, id).Scan(&found.ID, &found.Name)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, newProblem(404, "book %d does not exist", id)
	}
	return found, err
}

func (s *service) newBook(w http.ResponseWriter, r *http.Request) (any, error) {
	name, err := nameIn(w, r)
	if err != nil {
		return nil, err
	}
	made := book{Name: name}
	const text = "INSERT INTO books (name) VALUES (?)"
	err = s.database.query(r.Context(), text, func(ctx context.Context, statement *sql.Stmt) error {
		result, err := statement.ExecContext(ctx, made.Name)
		if err == nil {
			made.ID, err = result.LastInsertId()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	w.Header().Set("Location", "/books/"+strconv.FormatInt(made.ID, 10))
	writeJSON(w, http.StatusCreated, "application/json", made)
	return nil, nil
}

// nameIn reads the body and checks it in the order 415, 413, 400, 422 (C30).
func nameIn(w http.ResponseWriter, r *http.Request) (string, error) {
	connection := http.NewResponseController(w)
	connection.SetReadDeadline(time.Now().Add(bodyLimit))
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(mediaType), "application/json") {
		return "", errMediaType
	}
	if r.ContentLength > maxBody {
		w.Header().Set("Connection", "close") // else net/http reads it before it answers
		return "", errTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, is := errors.AsType[*http.MaxBytesError](err); is {
		return "", errTooLarge
	}
	if err != nil || !json.Valid(body) || !utf8.Valid(body) { // it broke off, came too late, or is no JSON
		return "", errBadJSON
	}
	connection.SetReadDeadline(time.Time{}) // else it would cancel an answer that takes longer
	var sent struct {                       // and nothing else: unknown keys are ignored, whatever their values
		Name string `json:"name"`
	}
	err = json.Unmarshal(body, &sent)
	if length := utf8.RuneCountInString(sent.Name); err != nil || length < 1 || length > maxName {
		return "", errName
	}
	return sent.Name, nil
}
