package main

import (
	"database/sql"
	"errors"
	"net/http"
	"strconv"
)

type book struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (s *service) getBook(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, valid := wholeNumber(r.PathValue("id"), 1, 1<<53-1) // C22: the largest that JSON carries everywhere
	if !valid {
		return nil, newProblem(400, "id must be a whole number from 1 to 9007199254740991")
	}
	var found book
	err := s.database.query(r.Context(), "SELECT id, name FROM books WHERE id = ?", []any{id}, &found.ID, &found.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, newProblem(404, "book %d does not exist", id)
	}
	return found, err
}

func (s *service) newBook(w http.ResponseWriter, r *http.Request) (any, error) {
	name, err := bookName(w, r)
	if err != nil {
		return nil, err
	}
	made := book{Name: name}
	err = s.database.lend(r.Context(), "INSERT INTO books (name) VALUES (?)", func(statement *sql.Stmt) error {
		result, err := statement.Exec(name)
		if err == nil {
			made.ID, err = result.LastInsertId()
		}
		return err
	})
	if err == nil {
		w.Header().Set("Location", "/books/"+strconv.FormatInt(made.ID, 10))
		writeJSON(w, http.StatusCreated, "application/json", made)
	}
	return nil, err
}
