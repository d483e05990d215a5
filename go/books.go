package main

import (
	"database/sql"
	"errors"
	"net/http"
	"strconv"
)

const maxID = 1<<53 - 1 // C22: the largest whole number that JSON carries everywhere

type book struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

func (s *service) getBook(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, valid := wholeNumber(r.PathValue("id"), 1, maxID)
	if !valid {
		return nil, newProblem(400, "id must be a whole number from 1 to %d", maxID)
	}
	var found book
	err := s.database.lend(r.Context(), "SELECT id, name FROM books WHERE id = ?", func(statement *sql.Stmt) error {
		return statement.QueryRow(id).Scan(&found.ID, &found.Name)
	})
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
	var id int64
	err = s.database.lend(r.Context(), "INSERT INTO books (name) VALUES (?)", func(statement *sql.Stmt) error {
		result, err := statement.Exec(name)
		if err == nil {
			id, err = result.LastInsertId()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	w.Header().Set("Location", "/books/"+strconv.FormatInt(id, 10))
	writeJSON(w, http.StatusCreated, "application/json", book{id, name})
	return nil, nil
}
