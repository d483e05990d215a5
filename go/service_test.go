package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const nowhere = "mysql://user:secret@127.0.0.1:1/nsb"

// start starts the service as main does, without database and upstream, and returns its address, its stop and its end.
func start(t *testing.T) (string, context.CancelFunc, chan error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	getenv := environmentOf("PORT", port, "DATABASE_URL", nowhere, "UPSTREAM_URL", "http://127.0.0.1:1")
	go func() { ended <- run(ctx, getenv) }()
	until(t, "the service answers", func() bool {
		response, err := http.Get("http://" + address + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil
	})
	t.Cleanup(stop)
	return address, stop, ended
}

func environmentOf(pairs ...string) func(string) string {
	values := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		values[pair[0]] = pair[1]
	}
	return func(name string) string { return values[name] }
}

func until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !reached(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}

// contract reads a file of the contract's data; contract/README.md explains its keys.
func contract(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../contract/" + name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// content is a body: a string, a list of parts, or bytes in base64.
type content struct{ bytes []byte }

func (c *content) UnmarshalJSON(text []byte) error {
	var parts []content
	var coded struct {
		Repeat string
		Times  int
		Base64 []byte
	}
	switch text[0] {
	case '"':
		var plain string
		err := json.Unmarshal(text, &plain)
		c.bytes = []byte(plain)
		return err
	case '[':
		err := json.Unmarshal(text, &parts)
		for _, part := range parts {
			c.bytes = append(c.bytes, part.bytes...)
		}
		return err
	}
	err := json.Unmarshal(text, &coded)
	c.bytes = append([]byte(strings.Repeat(coded.Repeat, coded.Times)), coded.Base64...)
	return err
}

type answer struct {
	Status                   int
	ContentType              string `json:"content_type"`
	Body                     *content
	Location, Allow, Upgrade string
}

type request struct {
	Method, Target string
	ContentType    *string `json:"content_type"`
	Headers        map[string]string
	Body           *content
	Chunked        bool
}

func (r request) send(t *testing.T, address string) (*http.Response, []byte) {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(20 * time.Second))
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\n", r.Method, r.Target)
	for name, value := range r.Headers {
		head += name + ": " + value + "\r\n"
	}
	if r.ContentType != nil {
		head += "Content-Type: " + *r.ContentType + "\r\n"
	}
	body := ""
	switch {
	case r.Chunked:
		head += "Transfer-Encoding: chunked\r\n"
		if text := r.Body.bytes; len(text) > 0 {
			body = fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
		}
		body += "0\r\n\r\n"
	case r.Body != nil:
		head += fmt.Sprintf("Content-Length: %d\r\n", len(r.Body.bytes))
		body = string(r.Body.bytes)
	}
	go io.WriteString(connection, head+"\r\n"+body) // the answer to a large body comes before its end
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: r.Method})
	if err != nil {
		t.Errorf("%s %s: %v", r.Method, r.Target, err)
		return nil, nil
	}
	if response.ContentLength < 0 {
		return response, nil // a stream
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("%s %s: %v", r.Method, r.Target, err)
	}
	return response, text
}

func TestExchanges(t *testing.T) {
	var data struct {
		Away   map[string]answer
		Groups []struct {
			Rule     string
			Needs    []string
			Answer   answer
			Requests []request
		}
	}
	contract(t, "exchanges.json", &data)
	address, _, _ := start(t)
	for _, group := range data.Groups {
		want := group.Answer
		if len(group.Needs) > 0 {
			var known bool
			if want, known = data.Away[group.Needs[0]]; !known {
				continue // an endpoint that this service has not
			}
		}
		for _, request := range group.Requests {
			response, body := request.send(t, address)
			if response == nil {
				continue
			}
			mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
			got := answer{Status: response.StatusCode, ContentType: mediaType, Location: response.Header.Get("Location"),
				Allow: response.Header.Get("Allow"), Upgrade: response.Header.Get("Upgrade"), Body: want.Body}
			length, wanted := int64(-1), ""
			if want.Body != nil {
				length, wanted = int64(len(want.Body.bytes)), string(want.Body.bytes)
			}
			if request.Method == http.MethodHead {
				wanted = ""
			}
			if got != want || response.ContentLength != length || string(body) != wanted {
				t.Errorf("%s: %s %s: %+v %s\nwanted %+v %s", group.Rule, request.Method, request.Target, got, body, want, wanted)
			}
		}
	}
}

func TestSettings(t *testing.T) {
	var data struct {
		Variables []struct {
			Variable, Sentence, Begins string
			Good, Bad                  []string
			With                       map[string]string
		}
	}
	contract(t, "settings.json", &data)
	for _, v := range data.Variables {
		environment := func(value string) func(string) string {
			pairs := []string{"DATABASE_URL", nowhere}
			for name, other := range v.With {
				pairs = append(pairs, name, other)
			}
			return environmentOf(append(pairs, v.Variable, value)...)
		}
		for _, value := range v.Good {
			if _, err := readSettings(environment(value)); err != nil {
				t.Error(err)
			}
		}
		for _, value := range v.Bad {
			err := fmt.Sprint(run(t.Context(), environment(value)))
			want := strings.ReplaceAll(v.Sentence+v.Begins, "{value}", value)
			wrong := v.Sentence != "" && err != want || !strings.HasPrefix(err, want)
			if wrong || strings.ContainsAny(err, "\r\n") || strings.Contains(err, "secret") {
				t.Errorf("%s\nwanted %s", err, want)
			}
		}
	}
}

// Nobody outside sees what becomes of an address that is good.
func TestDatabaseURL(t *testing.T) {
	s, err := readSettings(environmentOf("DATABASE_URL", "mysql://us%40er:p%2F%3A@[::1]/b%20c"))
	if err != nil {
		t.Fatal(err)
	}
	if c := s.database; c.User != "us@er" || c.Passwd != "p/:" || c.Addr != "[::1]:3306" || c.DBName != "b c" {
		t.Errorf("%+v", c)
	}
}

// The race detector sees a stop only from inside (C41).
func TestStop(t *testing.T) {
	address, stop, ended := start(t)
	events, err := http.Get("http://" + address + "/events?interval_ms=60000")
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	socket, _, err := websocket.Dial(t.Context(), "ws://"+address+"/ws", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.CloseNow()
	stop()
	if body, err := io.ReadAll(events.Body); err != nil || string(body) != "data: 0\n\n" {
		t.Errorf("%q, %v", body, err)
	}
	if _, _, err := socket.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestADatabaseThatAcceptsAndSaysNothingIsAway(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	config := mysqlConfig("mysql://user:secret@" + silent.Addr().String() + "/nsb")
	database := newDatabase(settings{database: config, poolSize: 1, acquireTimeout: 100 * time.Millisecond})
	defer database.pool.Close()
	for range 2 { // the first gives its place back
		if err := database.query(t.Context(), "SELECT 1", nil, new(int)); !errors.Is(err, errNoDatabase) {
			t.Errorf("the database did not greet: %v", err)
		}
	}
}
