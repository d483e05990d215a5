package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// running is a service started as main starts it, with its database away.
type running struct {
	url  string
	stop context.CancelFunc // as a signal does
	code chan int
}

func start(t *testing.T, extra ...string) *running {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	ctx, stop := context.WithCancel(t.Context())
	s := &running{"http://127.0.0.1:" + port, stop, make(chan int, 1)}
	getenv := environmentOf(append([]string{"PORT", port, "DATABASE_URL", "mysql://user:secret@127.0.0.1:1/nsb"}, extra...)...)
	go func() { s.code <- run(ctx, getenv, t.Output()) }()
	until(t, "the service answers", func() bool {
		response, err := http.Get(s.url + "/healthz")
		if err == nil {
			response.Body.Close()
		}
		return err == nil
	})
	t.Cleanup(stop)
	return s
}

func environmentOf(pairs ...string) func(string) string {
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
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

func (s *running) send(t *testing.T, method, path, contentType string, body io.Reader) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, body)
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

func (s *running) stats(t *testing.T) (answer statsAnswer) {
	t.Helper()
	_, text := s.send(t, "GET", "/stats", "", nil)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func problemText(status int, title, detail string) string {
	return fmt.Sprintf(`{"type":"about:blank","title":"%s","status":%d,"detail":"%s"}`, title, status, detail)
}

func TestAnswers(t *testing.T) {
	s := start(t)
	const milliseconds = "ms must be given once, as a whole number from 0 to 60000"
	const away, bad, missing = "the database did not answer", "Bad Request", "nothing is here"
	for _, c := range []struct {
		method, path string
		status       int
		answer       string // a body, or the detail of a problem
		title        string // of a problem
		allow        string
	}{
		{"GET", "/healthz", 200, `{"status":"ok"}`, "", ""},
		{"GET", "/readyz", 503, away, "Service Unavailable", ""},
		{"GET", "/hello", 200, "hello", "", ""},
		{"GET", "/hello?ms=%31&other", 200, "hello", "", ""},
		{"GET", "/sleep?ms=5&other=1", 200, `{"slept_ms":5}`, "", ""},
		{"GET", "/compute?rounds=1", 200, `{"rounds":1,"result":723471715}`, "", ""},
		{"GET", "/compute?rounds=1000", 200, `{"rounds":1000,"result":3298996588}`, "", ""},
		{"GET", "/block?ms=5&offload=false", 200, `{"blocked_ms":5,"offloaded":false}`, "", ""},
		{"GET", "/block?ms=5&offload=true", 200, `{"blocked_ms":5,"offloaded":true}`, "", ""},

		{"GET", "/", 404, missing, "Not Found", ""},
		{"GET", "/hello/", 404, missing, "Not Found", ""},
		{"GET", "/HELLO", 404, missing, "Not Found", ""},
		{"GET", "/books/", 404, missing, "Not Found", ""},
		{"GET", "/books/1/", 404, missing, "Not Found", ""},
		{"UNHEARD", "/nothing", 404, missing, "Not Found", ""},
		{"OPTIONS", "/hello", 405, "the method is not allowed here", "Method Not Allowed", "GET, HEAD"},
		{"UNHEARD", "/books/1", 405, "the method is not allowed here", "Method Not Allowed", "GET, HEAD"},
		{"GET", "/books", 405, "the method is not allowed here", "Method Not Allowed", "POST"},

		{"POST", "/ws", 405, "the method is not allowed here", "Method Not Allowed", "GET"},
		{"POST", "/events", 405, "the method is not allowed here", "Method Not Allowed", "GET, HEAD"},

		{"GET", "/events?interval_ms=9", 400, "interval_ms must be given once, as a whole number from 10 to 60000", bad, ""},
		{"GET", "/sleep", 400, milliseconds, bad, ""},
		{"GET", "/sleep?ms=", 400, milliseconds, bad, ""},
		{"GET", "/sleep?ms=01", 400, milliseconds, bad, ""},
		{"GET", "/sleep?ms=%2B1", 400, milliseconds, bad, ""},
		{"GET", "/sleep?ms=60001", 400, milliseconds, bad, ""},
		{"GET", "/sleep?ms=1&ms=1", 400, milliseconds, bad, ""},
		{"GET", "/sleep?ms=99999999999999999999", 400, milliseconds, bad, ""},
		{"GET", "/slow-query?ms=x", 400, milliseconds, bad, ""},
		{"GET", "/sleep-query?ms=x", 400, milliseconds, bad, ""},
		{"GET", "/block?ms=1001&offload=no", 400, "ms must be given once, as a whole number from 0 to 1000", bad, ""},
		{"GET", "/block?ms=1&offload=True", 400, "offload must be given once, as false or true", bad, ""},
		{"GET", "/fanout?calls=0&ms=x", 400, "calls must be given once, as a whole number from 1 to 1000", bad, ""},
		{"GET", "/fanout?calls=1&ms=1&mode=both", 400, "mode must be given once, as concurrent or sequential", bad, ""},
		{"GET", "/compute?rounds=0", 400, "rounds must be given once, as a whole number from 1 to 10000000", bad, ""},
		{"GET", "/books/0", 400, "id must be a whole number from 1 to 9007199254740991", bad, ""},
		{"GET", "/books/9007199254740992", 400, "id must be a whole number from 1 to 9007199254740991", bad, ""},

		{"GET", "/books/1", 503, away, "Service Unavailable", ""},
		{"GET", "/sleep-query?ms=0", 503, away, "Service Unavailable", ""},
		{"GET", "/slow-query?ms=0", 503, away, "Service Unavailable", ""},
	} {
		t.Run(c.method+c.path, func(t *testing.T) {
			want, contentType := c.answer, "application/json"
			if c.title != "" {
				want, contentType = problemText(c.status, c.title, c.answer), "application/problem+json"
			} else if want == "hello" {
				contentType = "text/plain; charset=utf-8"
			}
			response, got := s.send(t, c.method, c.path, "", nil)
			if response.StatusCode != c.status || got != want || response.Header.Get("Content-Type") != contentType ||
				response.Header.Get("Allow") != c.allow || response.ContentLength != int64(len(got)) {
				t.Errorf("%d %v\n%s\nwanted %d\n%s", response.StatusCode, response.Header, got, c.status, want)
			}
			if c.method != "GET" || c.allow != "" {
				return
			}
			head, _ := s.send(t, "HEAD", c.path, "", nil) // C21
			if head.StatusCode != c.status || head.ContentLength != int64(len(want)) || head.Header.Get("Content-Type") != contentType {
				t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	s := start(t)
	const plain = "application/json"
	name := func(length int) string { return `{"name":"` + strings.Repeat("한", length) + `"}` }
	padded := func(length int) string { return fmt.Sprintf("%-*s", length, `{"name":"a"}`) }
	notJSON := problemText(400, "Bad Request", "the body must be JSON in UTF-8")
	wrong := problemText(422, "Unprocessable Content", "name must be a string of 1 to 255 characters")
	mediaType := problemText(415, "Unsupported Media Type", "the body must be application/json")
	tooLarge := problemText(413, "Content Too Large", "the body must not exceed 65536 bytes")
	accepted := problemText(503, "Service Unavailable", "the database did not answer") // as far as it can get here
	for _, c := range []struct{ what, contentType, body, want string }{
		{"no media type, too large", "", padded(maxBody + 1), mediaType},
		{"another media type", "text/json", name(1), mediaType},
		{"any case, parameters", "Application/JSON ; charset=x", name(1), accepted},
		{"too large", plain, padded(maxBody + 1), tooLarge},
		{"as large as can be", plain, padded(maxBody), accepted},
		{"empty", plain, "", notJSON},
		{"cut off", plain, `{"name":"a"`, notJSON},
		{"NaN", plain, `{"name":NaN}`, notJSON},
		{"not UTF-8", plain, "{\"name\":\"\xff\"}", notJSON},
		{"null", plain, "null", wrong},
		{"a list", plain, `["name"]`, wrong},
		{"no name", plain, `{"Name":"a"}`, wrong},
		{"a number", plain, `{"name":1}`, wrong},
		{"null for a name", plain, `{"name":null}`, wrong},
		{"the last counts, wrong", plain, `{"name":"a","name":1}`, wrong},
		{"the last counts, right", plain, `{"name":1,"n\u0061me":"a"}`, accepted},
		{"no characters", plain, name(0), wrong},
		{"255 characters", plain, name(255), accepted},
		{"256 characters", plain, name(256), wrong},
		{"a pair", plain, `{"name":"\ud83d\ude00"}`, accepted},
		{"half a pair", plain, `{"name":"\ud83d"}`, wrong},
		{"half a pair, then another", plain, `{"name":"\ud83d\u0041"}`, wrong},
		{"the other half", plain, `{"name":"\uDE00"}`, wrong},
		{"a pair turned round", plain, `{"name":"\ude00\ud83d"}`, wrong},
		{"a backslash before u", plain, `{"name":"\\ud83d"}`, accepted},
		{"half a pair elsewhere", plain, `{"other":"\ud83d","name":"a"}`, accepted},
		{"the replacement character", plain, `{"name":"\ufffd"}`, accepted},
	} {
		t.Run(c.what, func(t *testing.T) {
			if _, got := s.send(t, "POST", "/books", c.contentType, strings.NewReader(c.body)); got != c.want {
				t.Errorf("with a length: %s\nwanted %s", got, c.want)
			}
			chunked := io.MultiReader(strings.NewReader(c.body)) // its length is not known to the client
			if _, got := s.send(t, "POST", "/books", c.contentType, chunked); got != c.want {
				t.Errorf("chunked: %s\nwanted %s", got, c.want)
			}
		})
	}
}

// No answer carries text from outside but a book's, and the database is away: so this goes inside.
func TestJSONIsNotEscaped(t *testing.T) {
	recorder := httptest.NewRecorder()
	name := "<&> 한😀 \u2028\u2029 \\u2028 \\\u2028 \" \n \x01 \x7f"
	if err := ok(recorder, book{1, name}); err != nil {
		t.Fatal(err)
	}
	want := `{"id":1,"name":"<&> 한😀 ` + "\u2028\u2029" + ` \\u2028 \\` + "\u2028" + ` \" \n \u0001 ` + "\x7f" + `"}`
	if got := recorder.Body.String(); got != want {
		t.Errorf("%q\nwanted %q", got, want)
	}
}

func TestRuntime(t *testing.T) {
	s := start(t, "WORKERS", "3", "DB_POOL_SIZE", "7")
	_, got := s.send(t, "GET", "/runtime", "", nil)
	for _, part := range []string{`{"runtime":"Go","runtime_version":"1.`, `"framework_version":"5.`, `"handled_by":null,"workers":3,"pool_size":7,`} {
		if !strings.Contains(got, part) {
			t.Errorf("%s lacks %s", got, part)
		}
	}
}

func TestFanout(t *testing.T) {
	var now, peak atomic.Int64
	together, open := make(chan struct{}), sync.Once{}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if current := now.Add(1); current > peak.Load() {
			peak.Store(current)
		}
		defer now.Add(-1)
		switch r.URL.String() {
		case "/delay?ms=0":
		case "/delay?ms=1": // answers five calls, and only if they are there at once
			if now.Load() == 5 {
				open.Do(func() { close(together) })
			}
			<-together
		case "/delay?ms=2":
			w.WriteHeader(http.StatusNoContent)
		case "/delay?ms=3":
			http.Redirect(w, r, "/delay?ms=0", http.StatusFound)
		case "/delay?ms=4":
			<-r.Context().Done()
		default:
			t.Errorf("asked for %s", r.URL)
		}
	}))
	t.Cleanup(upstream.Close)
	s := start(t, "UPSTREAM_URL", upstream.URL, "UPSTREAM_TIMEOUT_MS", "2000")
	get := func(query string) string {
		_, text := s.send(t, "GET", "/fanout?"+query, "", nil)
		return text
	}
	if got := get("calls=20&ms=0&mode=sequential"); got != `{"calls":20,"mode":"sequential","completed":20}` || peak.Load() != 1 {
		t.Errorf("%s with %d at once", got, peak.Load())
	}
	if got := get("calls=5&ms=1&mode=concurrent"); got != `{"calls":5,"mode":"concurrent","completed":5}` {
		t.Error(got)
	}
	want := problemText(502, "Bad Gateway", "the upstream did not answer")
	for _, query := range []string{"calls=3&ms=2&mode=sequential", "calls=3&ms=3&mode=concurrent", "calls=3&ms=4&mode=concurrent"} {
		if got := get(query); got != want {
			t.Errorf("%s: %s", query, got)
		}
	}
	upstream.Close()
	if got := get("calls=3&ms=0&mode=concurrent"); got != want {
		t.Error(got)
	}
}

func TestLeavingAndStats(t *testing.T) {
	s := start(t)
	s.send(t, "GET", "/hello", "", nil)
	s.send(t, "GET", "/nothing", "", nil)
	s.send(t, "GET", "/readyz", "", nil) // not counted
	until(t, "two requests counted", func() bool { return s.stats(t).RequestsTotal == 2 })

	ctx, leave := context.WithCancel(t.Context())
	request, _ := http.NewRequestWithContext(ctx, "GET", s.url+"/sleep?ms=60000", nil)
	gone := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(request)
		gone <- err
	}()
	until(t, "one in flight", func() bool { return s.stats(t).InFlight == 1 })
	leave()
	<-gone
	until(t, "none in flight", func() bool { return s.stats(t).InFlight == 0 })
	if got := s.stats(t); got.RequestsTotal != 3 || got.BusySecondsTotal <= 0 || got.PoolWaiting != 0 {
		t.Errorf("%+v", got)
	}
}

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	s := start(t)
	answered := make(chan string, 1)
	go func() {
		_, text := s.send(t, "GET", "/sleep?ms=2000", "", nil)
		answered <- text
	}()
	until(t, "one in flight", func() bool { return s.stats(t).InFlight == 1 })
	s.stop()
	if got := <-answered; got != `{"slept_ms":2000}` {
		t.Error(got)
	}
	if code := <-s.code; code != 0 {
		t.Errorf("ended with %d", code)
	}
}

func TestEvents(t *testing.T) {
	s := start(t)
	response, err := http.Get(s.url + "/events?interval_ms=10")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 || response.ContentLength != -1 || response.Header.Get("Content-Type") != "text/event-stream" ||
		response.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %v", response.StatusCode, response.Header)
	}
	const want = "data: 0\n\ndata: 1\n\ndata: 2\n\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(response.Body, got); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if got := s.stats(t); got.InFlight != 1 || got.RequestsTotal != 0 {
		t.Errorf("%+v while it is open", got)
	}
	response.Body.Close()
	until(t, "it is forgotten", func() bool { return s.stats(t).InFlight == 0 })

	head, body := s.send(t, "HEAD", "/events?interval_ms=60000", "", nil)
	if head.StatusCode != 200 || head.ContentLength != -1 || body != "" || head.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("HEAD: %d %v %q", head.StatusCode, head.Header, body)
	}
}

func TestNoUpgrade(t *testing.T) {
	s := start(t)
	response, got := s.send(t, "GET", "/ws", "", nil)
	if want := problemText(426, "Upgrade Required", "upgrade to a WebSocket"); got != want || response.Header.Get("Upgrade") != "websocket" {
		t.Errorf("%v %s", response.Header, got)
	}
	if head, _ := s.send(t, "HEAD", "/ws", "", nil); head.StatusCode != 405 || head.Header.Get("Allow") != "GET" { // C21
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
}

// dial fails the test where there is no WebSocket; what it returns ends within ten seconds.
func (s *running) dial(t *testing.T) (*websocket.Conn, context.Context) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	socket, response, err := websocket.Dial(ctx, s.url+"/ws", &websocket.DialOptions{
		HTTPHeader:      http.Header{"Origin": {"https://elsewhere.example"}},
		Subprotocols:    []string{"chat"},
		CompressionMode: websocket.CompressionContextTakeover,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.CloseNow() })
	if socket.Subprotocol() != "" || response.Header.Get("Sec-WebSocket-Extensions") != "" {
		t.Errorf("negotiated %v", response.Header)
	}
	socket.SetReadLimit(-1)
	return socket, ctx
}

func TestSocketSendsBack(t *testing.T) {
	s := start(t)
	socket, ctx := s.dial(t)
	for _, message := range []string{"", "한😀", strings.Repeat("x", maxMessage)} {
		for _, kind := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
			if err := socket.Write(ctx, kind, []byte(message)); err != nil {
				t.Fatal(err)
			}
			if gotKind, got, err := socket.Read(ctx); err != nil || gotKind != kind || string(got) != message {
				t.Errorf("%v of %d bytes: %v of %d, %v", kind, len(message), gotKind, len(got), err)
			}
		}
	}
	if got := s.stats(t); got.InFlight != 1 {
		t.Errorf("%+v while it is open", got)
	}
	socket.CloseNow() // without a goodbye
	until(t, "it is forgotten", func() bool { return s.stats(t).InFlight == 0 })
}

func TestSocketRefuses(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		what    string
		kind    websocket.MessageType
		message string
		want    websocket.StatusCode
	}{
		{"too long a text", websocket.MessageText, strings.Repeat("x", maxMessage+1), websocket.StatusMessageTooBig},
		{"too long a binary", websocket.MessageBinary, strings.Repeat("x", maxMessage+1), websocket.StatusMessageTooBig},
		{"not UTF-8", websocket.MessageText, "\xff", websocket.StatusInvalidFramePayloadData},
	} {
		t.Run(c.what, func(t *testing.T) {
			socket, ctx := s.dial(t)
			if err := socket.Write(ctx, c.kind, []byte(c.message)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := socket.Read(ctx); websocket.CloseStatus(err) != c.want {
				t.Errorf("%v, wanted %v", err, c.want)
			}
		})
	}
}

func TestStopEndsStreams(t *testing.T) {
	s := start(t)
	response, err := http.Get(s.url + "/events?interval_ms=60000")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	socket, ctx := s.dial(t)
	s.stop()
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "data: 0\n\n" {
		t.Errorf("%q, %v", body, err)
	}
	if _, _, err := socket.Read(ctx); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Error(err)
	}
	if code := <-s.code; code != 0 {
		t.Errorf("ended with %d", code)
	}
}

func TestWrongSettings(t *testing.T) {
	const database = "mysql://user:secret@localhost/nsb"
	for _, c := range []struct{ name, value, want string }{
		{"PORT", "abc", `PORT="abc" is not a whole number from 1 to 65535`},
		{"PORT", "0", `PORT="0" is not a whole number from 1 to 65535`},
		{"HOST", "192.0.2.1", `HOST="192.0.2.1" and PORT="8080" cannot be bound: `},
		{"WORKERS", "01", `WORKERS="01" is not a whole number from 1 to 1024`},
		{"DB_POOL_SIZE", "3", `DB_POOL_SIZE="3" is not a whole number from 4 to 10000`},
		{"DB_ACQUIRE_TIMEOUT_MS", "3600001", `DB_ACQUIRE_TIMEOUT_MS="3600001" is not a whole number from 1 to 3600000`},
		{"UPSTREAM_TIMEOUT_MS", " 1", `UPSTREAM_TIMEOUT_MS=" 1" is not a whole number from 1 to 3600000`},
		{"UPSTREAM_URL", "http://127.0.0.1:9000/", `UPSTREAM_URL="http://127.0.0.1:9000/" is not http://host:port`},
		{"UPSTREAM_URL", "http://a:secret@b:1", `UPSTREAM_URL="***@b:1" is not http://host:port`},
		{"SERVER_THREADS", "-1", `SERVER_THREADS="-1" is not a whole number from 1 to 100000`},
		{"DATABASE_URL", "", `DATABASE_URL must be set`},
		{"DATABASE_URL", "user:secret@localhost/nsb", `DATABASE_URL="***" is not mysql://user:password@host:port/database`},
		{"DATABASE_URL", "mysql://user:secret@localhost:0/nsb", `DATABASE_URL="***" is not mysql://user:password@host:port/database`},
		{"DATABASE_URL", "mysql://user:secret@localhost", `DATABASE_URL="***" is not mysql://user:password@host:port/database`},
		{"DATABASE_URL", "mysql://user:secret", `DATABASE_URL="***" is not mysql://user:password@host:port/database`},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			var stderr bytes.Buffer
			getenv := environmentOf("WORKERS", "4", "DATABASE_URL", database, c.name, c.value)
			code := run(t.Context(), getenv, &stderr)
			if got := stderr.String(); code != 2 || !strings.HasPrefix(got, c.want) || strings.Count(got, "\n") != 1 || strings.Contains(got, "secret") {
				t.Errorf("%d: %s\nwanted %s", code, got, c.want)
			}
		})
	}
}

func TestDatabaseAddress(t *testing.T) {
	for value, want := range map[string]databaseAddress{
		"mysql://us%40er:p%2F%3A@db/b%20c": {"us@er", "p/:", "db:3306", "b c"},
		"mysql://u:@[::1]:3307/d":          {"u", "", "[::1]:3307", "d"},
	} {
		if s, err := readSettings(environmentOf("DATABASE_URL", value), 1); err != nil || s.database != want {
			t.Errorf("%s: %+v, %v", value, s.database, err)
		}
	}
}
