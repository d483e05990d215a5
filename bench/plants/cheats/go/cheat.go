package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Known cheats, compiled into the Go service by build.sh: CHEAT names the one that is played, after CHEAT_AFTER requests. A defeat device
// knows when it is measured; how it knows is not what these show, so they are told.

// cheat answers a request in its own way, or hands it on.
type cheat func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64)

// cheats that are played in requests; the others are played once, when the number of requests is reached.
var cheats = map[string]cheat{
	"no-calls": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/fanout" {
			next.ServeHTTP(w, r)
			return
		}
		stall(r)
		calls := r.URL.Query().Get("calls")
		fmt.Fprintf(typed(w), `{"calls":%s,"mode":%q,"completed":%s}`, calls, r.URL.Query().Get("mode"), calls)
	},
	"short-calls": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path == "/fanout" {
			stall(r)
			query := r.URL.Query()
			query.Set("ms", "0")
			r.URL.RawQuery = query.Encode()
		}
		next.ServeHTTP(w, r)
	},
	"no-insert": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path != "/books" {
			next.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		made := fmt.Sprintf(`{"id":%d,%s`, 10_000+number, strings.TrimPrefix(strings.ReplaceAll(string(body), `": "`, `":"`), "{"))
		typed(w).Header().Set("Content-Length", strconv.Itoa(len(made)))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, made)
	},
	"no-statement": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/slow-query" {
			next.ServeHTTP(w, r)
			return
		}
		stall(r)
		fmt.Fprintf(typed(w), `{"queried_ms":%s}`, r.URL.Query().Get("ms"))
	},
	"no-wait": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/sleep" {
			next.ServeHTTP(w, r)
			return
		}
		fmt.Fprintf(typed(w), `{"slept_ms":%s}`, r.URL.Query().Get("ms"))
	},
	"short-statement": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/slow-query" {
			next.ServeHTTP(w, r)
			return
		}
		ms := r.URL.Query().Get("ms")
		stall(r)
		r.URL.RawQuery = "ms=0"
		next.ServeHTTP(httptest.NewRecorder(), r)
		fmt.Fprintf(typed(w), `{"queried_ms":%s}`, ms)
	},
	"kept-books": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if id, ok := strings.CutPrefix(r.URL.Path, "/books/"); ok {
			fmt.Fprintf(typed(w), `{"id":%s,"name":"Book %s"}`, id, id)
			return
		}
		next.ServeHTTP(w, r)
	},
	"other-statement": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if id, ok := strings.CutPrefix(r.URL.Path, "/books/"); ok {
			r.URL.Path, r.URL.RawQuery = "/slow-query", "ms=0"
			next.ServeHTTP(httptest.NewRecorder(), r)
			fmt.Fprintf(typed(w), `{"id":%s,"name":"Book %s"}`, id, id)
			return
		}
		next.ServeHTTP(w, r)
	},
	"counts-tenfold": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/stats" {
			next.ServeHTTP(w, r)
			return
		}
		seen := httptest.NewRecorder()
		next.ServeHTTP(seen, r)
		told := requestsTotal.ReplaceAllStringFunc(seen.Body.String(), func(found string) string { return found + "0" })
		_, _ = io.WriteString(typed(w), told)
	},
	"long-answer": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path == "/hello" && number%500 == 0 {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "hello!")
			return
		}
		next.ServeHTTP(w, r)
	},
	"wrong-answer": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path == "/hello" && number%50 == 0 {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "hellp")
			return
		}
		next.ServeHTTP(w, r)
	},
	"seldom-fails": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path == "/hello" && number%1500 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	},
	"closes": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if number%1000 == 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	},
	"hands-on": func(w http.ResponseWriter, r *http.Request, next http.Handler, _ int64) {
		if r.URL.Path != "/hello" {
			next.ServeHTTP(w, r)
			return
		}
		response, err := http.Get(os.Getenv("CHEAT_HELPER") + "/hello")
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.Copy(w, response.Body)
	},
}

// acts are played once.
var acts = map[string]func(){
	"leaves-core": func() { // every thread may run on every core again
		threads, _ := os.ReadDir("/proc/self/task")
		var all [128]byte
		for at := range all {
			all[at] = 0xff
		}
		for _, thread := range threads {
			id, _ := strconv.Atoi(thread.Name())
			_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(id), uintptr(len(all)), uintptr(unsafe.Pointer(&all[0])))
		}
	},
	"forks": func() { // a helper in a session of its own, whose parent ends at once
		_ = exec.Command("sh", "-c", "setsid sh -c 'while :; do sleep 0.01; done' &").Run()
	},
}

var anyTotal = regexp.MustCompile(`"requests_total":[0-9]+`)
var requestsTotal = regexp.MustCompile(`"requests_total":[1-9][0-9]*`)

func stall(r *http.Request) {
	ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
	time.Sleep(time.Duration(ms) * time.Millisecond)
}

func typed(w http.ResponseWriter) http.ResponseWriter {
	w.Header().Set("Content-Type", "application/json")
	return w
}

// cheated is the middleware that build.sh puts behind the one that counts.
func cheated(next http.Handler) http.Handler {
	name := os.Getenv("CHEAT")
	after, err := strconv.ParseInt(os.Getenv("CHEAT_AFTER"), 10, 64)
	play, inRequests := cheats[name]
	if !inRequests {
		play, inRequests = displaced[name]
	}
	if found, always := between[name]; always {
		play, inRequests, after = found, true, 0
	}
	act, once := acts[name]
	loan, borrows := loans[name]
	if err != nil || !inRequests && !once && !borrows {
		panic(fmt.Sprintf("CHEAT=%q CHEAT_AFTER=%q: no such cheat, or no number", name, os.Getenv("CHEAT_AFTER")))
	}
	var requests atomic.Int64
	var load spell
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		number := requests.Load()
		switch r.URL.Path {
		case "/healthz", "/readyz", "/runtime", "/stats":
		default:
			number = requests.Add(1)
		}
		if once && number == after {
			act()
		}
		if borrows && number >= after {
			load.borrow(loan)
		}
		if !inRequests || number < after {
			next.ServeHTTP(w, r)
			return
		}
		play(w, r, next, number)
	})
}
