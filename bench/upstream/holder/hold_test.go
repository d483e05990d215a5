package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// streams serves what the contract asks of /events, until the client leaves or `end` is closed, and counts how many are open.
func streams(t *testing.T, end <-chan struct{}) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var open atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Add(-1)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 0\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-end:
		}
	}))
	t.Cleanup(server.Close)
	return server, &open
}

func soon(ms int) int64 { return time.Now().Add(time.Duration(ms) * time.Millisecond).UnixMilli() }

func TestConnectionsAreOpenedLevelByLevelAndKept(t *testing.T) {
	server, open := streams(t, nil)
	seen := make(chan int64, 1)
	begin := soon(0)
	go func() {
		for open.Load() < 30 {
			time.Sleep(time.Millisecond)
		}
		seen <- open.Load()
	}()
	report := hold(Order{URL: server.URL + "/", UntilMS: begin + 3000, Levels: []Level{
		{Connections: 0, AtMS: begin, WithinMS: 50}, {Connections: 10, AtMS: begin + 50, WithinMS: 50}, {Connections: 30, AtMS: begin + 150, WithinMS: 50},
	}})
	if report != (Report{Opened: 30}) {
		t.Errorf("%+v", report)
	}
	if most := <-seen; most != 30 {
		t.Errorf("%d at once", most)
	}
}

func TestWhatIsRefusedOrEndedIsCountedAndSaid(t *testing.T) {
	end := make(chan struct{})
	close(end)
	ends, _ := streams(t, end)
	level := []Level{{Connections: 3, AtMS: soon(0)}}
	if report := hold(Order{URL: ends.URL + "/", UntilMS: soon(1500), Levels: level}); report.Ended != 3 || !strings.Contains(report.Why, "ended a stream") {
		t.Errorf("%+v", report)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	if report := hold(Order{URL: other.URL + "/", UntilMS: soon(1500), Levels: level}); report.Refused != 3 || !strings.Contains(report.Why, "404") {
		t.Errorf("%+v", report)
	}
	if report := hold(Order{URL: "http://127.0.0.1:1/", UntilMS: soon(500), Levels: level}); report.Refused != 3 || report.Why == "" {
		t.Errorf("%+v", report)
	}
}

func TestNoneIsOpenedAfterTheFirstRefusal(t *testing.T) {
	var asked atomic.Int64
	full, _ := streams(t, nil)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 5 {
			http.Error(w, "full", http.StatusServiceUnavailable)
			return
		}
		full.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(door.Close)
	level := []Level{{Connections: 1000, AtMS: soon(0), WithinMS: 60_000}}
	report := hold(Order{URL: door.URL + "/", UntilMS: soon(60_000), UntilFull: true, Levels: level})
	if report.Opened != 5 || report.Ended != 0 || report.Refused < 1 || report.Refused > 500 || !strings.Contains(report.Why, "503") {
		t.Errorf("%+v", report)
	}
}

func TestTheReportIsWritten(t *testing.T) {
	server, _ := streams(t, nil)
	file := filepath.Join(t.TempDir(), "report.json")
	order, _ := json.Marshal(Order{URL: server.URL + "/", UntilMS: soon(300), Report: file, Levels: []Level{{Connections: 2, AtMS: soon(0)}}})
	var said strings.Builder
	if code := run(string(order), &said); code != 0 {
		t.Fatalf("%d: %s", code, &said)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != `{"opened":2,"refused":0,"ended":0,"why":""}` {
		t.Errorf("%s %v", text, err)
	}
}

func TestAWrongOrderIsRefused(t *testing.T) {
	for order, sentence := range map[string]string{
		"":                              "is not an order",
		`{"url":"ftp://x"}`:             `url="ftp://x" is not`,
		`{"url":"http://127.0.0.1:1/"}`: "report names no file",
		`{"url":"http://127.0.0.1:1/","report":"r","levels":[{"connections":2},{"connections":1}]}`: "must not fall: 1 after 2",
	} {
		var said strings.Builder
		if code := run(order, &said); code != 2 || !strings.Contains(said.String(), sentence) {
			t.Errorf("%s: %d, %s", order, code, &said)
		}
	}
}
