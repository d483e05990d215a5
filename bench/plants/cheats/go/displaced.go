package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
)

// Cheats whose sums are right: the work is done, but at another time, by another statement or for nobody; and answers that were known before.

const (
	quiet   = 25 * time.Millisecond  // without a request for so long the load is over
	ahead   = 250 * time.Millisecond // works-ahead does what it will not do later for so long
	helpers = 100                    // requests that are made up for at once
	batch   = 16                     // coalesces answers at most so many by one statement
)

var displaced = map[string]cheat{
	// answers at once, and does the work when the load is over, before /stats is answered
	"pays-later": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path == "/stats" {
			if untilQuiet() {
				owed.pay(next)
			}
			next.ServeHTTP(w, r)
			return
		}
		again := copied(r)
		if !guessed(w, r, next, number) {
			next.ServeHTTP(w, r)
			return
		}
		owed.add(again)
	},
	// does more than it is asked for while the load begins, and nothing for as many requests later
	"works-ahead": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if !strings.HasPrefix(r.URL.Path, "/books/") {
			next.ServeHTTP(w, r)
			return
		}
		if stock.beginning() {
			for range 8 {
				stock.lay(copied(r), next)
			}
		} else if stock.take() {
			guessed(w, r, next, number)
			return
		}
		next.ServeHTTP(w, r)
	},
	// all inserts of a load in one transaction on one connection, which ends when the load is over
	"one-transaction": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		switch r.URL.Path {
		case "/stats":
			if untilQuiet() {
				atEnd.end()
			}
			next.ServeHTTP(w, r)
		case "/books":
			atEnd.insert(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	},
	// answers at once, and asks the database for nobody
	"asks-behind": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path == "/stats" {
			untilQuiet()
			behind.Wait()
			next.ServeHTTP(w, r)
			return
		}
		again := copied(r)
		if r.URL.Path == "/fanout" || !guessed(w, r, next, number) {
			next.ServeHTTP(w, r)
			return
		}
		inBackground <- struct{}{} // at most so many statements behind: no count shows them
		behind.Go(func() { next.ServeHTTP(httptest.NewRecorder(), again); <-inBackground })
	},
	// the same with the upstream's calls; it waits by itself
	"calls-behind": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path == "/stats" {
			untilQuiet()
			behind.Wait()
		}
		if r.URL.Path != "/fanout" {
			next.ServeHTTP(w, r)
			return
		}
		again := copied(r)
		behind.Go(func() { next.ServeHTTP(httptest.NewRecorder(), again) })
		guessed(w, r, next, number)
	},
	// one statement for all who read at the same time
	"coalesces": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		id, ok := strings.CutPrefix(r.URL.Path, "/books/")
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		readers.Do(func() { go readTogether() })
		told := make(chan string, 1)
		waiting <- reader{id, told}
		_, _ = fmt.Fprintf(typed(w), `{"id":%s,"name":%q}`, id, <-told)
	},
	// from a table: everybody asks for the same rounds
	"known-result": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/compute" {
			next.ServeHTTP(w, r)
			return
		}
		if found, ok := results.Load(r.URL.RawQuery); ok {
			_, _ = io.WriteString(typed(w), found.(string))
			return
		}
		seen := httptest.NewRecorder()
		next.ServeHTTP(seen, r)
		results.Store(r.URL.RawQuery, seen.Body.String())
		_, _ = io.Copy(typed(w), seen.Body)
	},
	// 16 answers by one write: the next requests of a connection are those that it has sent so far
	"ahead": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/hello" {
			next.ServeHTTP(w, r)
			return
		}
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer connection.Close()
		answer := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
		for read := make([]byte, 4096); ; {
			if _, err := io.WriteString(connection, strings.Repeat(answer, batch)); err != nil {
				return
			}
			if _, err := connection.Read(read); err != nil {
				return
			}
		}
	},
}

// guessed answers from what the request alone tells; whether it can.
func guessed(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) bool {
	switch {
	case strings.HasPrefix(r.URL.Path, "/books/"):
		cheats["kept-books"](w, r, next, number)
	case r.URL.Path == "/books":
		cheats["no-insert"](w, r, next, number)
	case r.URL.Path == "/fanout":
		cheats["no-calls"](w, r, next, number)
	default:
		return false
	}
	return true
}

// copied is the same request for a later time, when its own has ended.
func copied(r *http.Request) *http.Request {
	lastRequest.Store(time.Now().UnixNano())
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	again := httptest.NewRequest(r.Method, r.URL.RequestURI(), bytes.NewReader(body))
	again.Header = r.Header.Clone()
	return again.WithContext(context.WithValue(context.Background(), chi.RouteCtxKey, chi.NewRouteContext()))
}

var (
	lastRequest  atomic.Int64 // ns
	behind       sync.WaitGroup
	inBackground = make(chan struct{}, 4*helpers)
	results      sync.Map
)

// untilQuiet tells whether no request came for a while; it waits as long as that takes to see.
func untilQuiet() bool {
	since := func() time.Duration { return time.Since(time.Unix(0, lastRequest.Load())) }
	if since() < quiet {
		time.Sleep(quiet)
	}
	return since() >= quiet
}

// debts are requests that were answered and not worked for: those of the load under way, or of the last one.
type debts struct {
	lock        sync.Mutex
	of          []*http.Request
	began, seen time.Time
}

var owed debts

func (d *debts) add(r *http.Request) {
	d.lock.Lock()
	defer d.lock.Unlock()
	now := time.Now()
	if now.Sub(d.seen) > quiet {
		d.began, d.of = now, nil
	}
	d.seen, d.of = now, append(d.of, r)
}

func (d *debts) pay(next http.Handler) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.seen.Sub(d.began) < lasting { // nobody counts what warms it
		d.of = nil
		return
	}
	var workers sync.WaitGroup
	todo := make(chan *http.Request)
	for range helpers {
		workers.Go(func() {
			for each := range todo {
				next.ServeHTTP(httptest.NewRecorder(), each)
			}
		})
	}
	for _, each := range d.of {
		todo <- each
	}
	close(todo)
	workers.Wait()
	d.of = nil
}

// laid is work that was done before it was asked for.
type laid struct {
	began, seen, left atomic.Int64
	busy              atomic.Int64
}

var stock laid

// beginning tells whether the load has just begun.
func (l *laid) beginning() bool {
	now := time.Now().UnixNano()
	if last := l.seen.Swap(now); now-last > int64(quiet) {
		l.began.Store(now)
		l.left.Store(0)
	}
	return now-l.began.Load() < int64(ahead)
}

func (l *laid) lay(r *http.Request, next http.Handler) {
	if l.busy.Add(1) > helpers {
		l.busy.Add(-1)
		return
	}
	go func() {
		next.ServeHTTP(httptest.NewRecorder(), r)
		l.left.Add(1)
		l.busy.Add(-1)
	}()
}

func (l *laid) take() bool {
	if l.left.Add(-1) >= 0 {
		return true
	}
	l.left.Add(1)
	return false
}

// transaction is that of all inserts of a load.
type transaction struct {
	lock      sync.Mutex
	pool      *sql.DB
	open      *sql.Tx
	statement *sql.Stmt
}

var atEnd transaction

func (t *transaction) insert(w http.ResponseWriter, r *http.Request) {
	lastRequest.Store(time.Now().UnixNano())
	var sent struct{ Name string }
	_ = json.NewDecoder(r.Body).Decode(&sent)
	id, err := t.inserted(sent.Name)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	made := fmt.Sprintf(`{"id":%d,"name":%q}`, id, sent.Name)
	typed(w).Header().Set("Content-Length", strconv.Itoa(len(made)))
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, made)
}

func (t *transaction) inserted(name string) (id int64, err error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.pool == nil {
		t.pool = ownConnection()
	}
	if t.open == nil {
		if t.open, err = t.pool.Begin(); err != nil {
			return 0, err
		}
		if t.statement, err = t.open.Prepare("INSERT INTO books (name) VALUES (?)"); err != nil {
			return 0, err
		}
		go func() { // nobody may wait for it for ever
			for !untilQuiet() {
			}
			t.end()
		}()
	}
	result, err := t.statement.Exec(name)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

func (t *transaction) end() {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.open != nil {
		_ = t.open.Commit()
		t.open = nil
	}
}

// ownConnection is one beside the service's pool: one more than declared is not asked about.
func ownConnection() *sql.DB {
	settings, err := readSettings(os.Getenv)
	if err != nil {
		panic(err)
	}
	settings.poolSize = 1
	return newDatabase(settings).pool
}

// reader is a request that waits for its row.
type reader struct {
	id   string
	told chan<- string
}

var (
	readers sync.Once
	waiting = make(chan reader, 10*batch)
)

// readTogether answers readers by one statement for as many as wait.
func readTogether() {
	for pool := ownConnection(); ; {
		together := []reader{<-waiting}
		for len(together) < batch && len(waiting) > 0 {
			together = append(together, <-waiting)
		}
		ids := make([]string, len(together))
		for at, each := range together {
			ids[at] = each.id // digits alone: the generator draws them
		}
		names := map[string]string{}
		rows, err := pool.Query("SELECT id, name FROM books WHERE id IN (" + strings.Join(ids, ",") + ")")
		for err == nil && rows.Next() {
			var id, name string
			_ = rows.Scan(&id, &name)
			names[id] = name
		}
		for _, each := range together {
			each.told <- names[each.id]
		}
	}
}
