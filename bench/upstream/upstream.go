package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

const longestDelayMs = 60_000 // the contract's bound for ms (C22)

// upstream counts the calls of /delay, so that a test can see whether a service's calls overlapped.
type upstream struct {
	total    atomic.Int64
	askedMs  atomic.Int64 // what all calls together were to wait
	inFlight atomic.Int64
	peak     atomic.Int64
}

type counters struct {
	CallsTotal   int64 `json:"calls_total"`
	AskedMsTotal int64 `json:"asked_ms_total"`
	InFlight     int64 `json:"in_flight"`
	InFlightPeak int64 `json:"in_flight_peak"`
}

func newUpstream() http.Handler {
	u := &upstream{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /delay", u.delay)
	mux.HandleFunc("GET /hello", hello)
	mux.HandleFunc("GET /stats", u.stats)
	mux.HandleFunc("POST /reset", u.reset)
	return mux
}

// inTurn accepts connections with one call at a time: calls that shall overlap need connections of their own. Who sends several by one packet
// (pipelining) is answered 400.
type inTurn struct{ net.Listener }

func (l inTurn) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return oneCall{accepted}, nil
}

type oneCall struct{ net.Conn }

var (
	headEnd   = []byte("\r\n\r\n")
	errBehind = errors.New("a call came behind another one")
)

func (c oneCall) Read(to []byte) (int, error) {
	read, err := c.Conn.Read(to)
	if bytes.Count(to[:read], headEnd) > 1 {
		return 0, errBehind
	}
	return read, err
}

// hello is the null server: what a generator measures here is the generator.
func hello(w http.ResponseWriter, _ *http.Request) {
	answer(w, "text/plain", []byte("hello"))
}

// delay answers after ms, or not at all where the client has left by then.
func (u *upstream) delay(w http.ResponseWriter, r *http.Request) {
	ms, ok := readMs(r.URL.RawQuery)
	if !ok {
		http.Error(w, "ms must be given once, as a whole number from 0 to 60000", http.StatusBadRequest)
		return
	}
	u.begin(ms)
	defer u.inFlight.Add(-1)
	if ms > 0 {
		timer := time.NewTimer(time.Duration(ms) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	body := make([]byte, 0, 32)
	body = append(body, `{"delayed_ms":`...)
	body = strconv.AppendInt(body, int64(ms), 10)
	answer(w, "application/json", append(body, '}'))
}

// begin counts a call and raises the peak where this one made it higher.
func (u *upstream) begin(ms int) {
	u.total.Add(1)
	u.askedMs.Add(int64(ms))
	now := u.inFlight.Add(1)
	for peak := u.peak.Load(); now > peak; peak = u.peak.Load() {
		if u.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

func (u *upstream) stats(w http.ResponseWriter, _ *http.Request) {
	u.show(w)
}

// reset forgets the past: no calls yet, and the peak is what is in flight now.
func (u *upstream) reset(w http.ResponseWriter, _ *http.Request) {
	u.total.Store(0)
	u.askedMs.Store(0)
	u.peak.Store(u.inFlight.Load())
	u.show(w)
}

func (u *upstream) show(w http.ResponseWriter) {
	body, err := json.Marshal(counters{u.total.Load(), u.askedMs.Load(), u.inFlight.Load(), u.peak.Load()})
	if err != nil { // three integers always marshal
		panic(err)
	}
	answer(w, "application/json", body)
}

func readMs(query string) (int, bool) {
	values, err := url.ParseQuery(query)
	if err != nil || len(values["ms"]) != 1 || !wholeNumber.MatchString(values["ms"][0]) {
		return 0, false
	}
	ms, err := strconv.Atoi(values["ms"][0])
	return ms, err == nil && ms <= longestDelayMs
}

// answer writes a whole body; net/http sets Content-Length for one this small.
func answer(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(body) // the client may have left: nobody is there to be told
}
