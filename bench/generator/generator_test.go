package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// drive runs an order against a handler; the readings and whether it failed.
func drive(t *testing.T, handler http.HandlerFunc, change func(*Order)) ([]Reading, bool) {
	t.Helper()
	return driveKnown(t, handler, change, func(*load) {})
}

func driveKnown(t *testing.T, handler http.HandlerFunc, change func(*Order), know func(*load)) ([]Reading, bool) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/iello") || strings.HasPrefix(r.URL.Path, "/cooks") {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, nothing.Body)
			return
		}
		handler(w, r)
	}))
	defer server.Close()
	order := Order{
		Address: strings.TrimPrefix(server.URL, "http://"), Targets: []Target{{Method: "GET", Path: "/hello", Body: "hello", Status: 200, Weight: 1}},
		Seed: 1, Connections: 4, EveryMS: 20, DurationMS: 100, PIDs: []int{os.Getpid()},
	}
	change(&order)
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	order, err = parseOrder(text)
	if err != nil {
		t.Fatal(err)
	}
	load, err := newLoad(order)
	if err != nil {
		t.Fatal(err)
	}
	know(load)
	var readings []Reading
	failed := load.run(func(reading Reading) { readings = append(readings, reading) })
	return readings, failed
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func TestCountsWhatTheServiceAnswered(t *testing.T) {
	var asked atomic.Uint64
	readings, failed := drive(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); hello(w, r) }, func(*Order) {})
	last := readings[len(readings)-1]
	if failed || last.Answers == 0 || last.Answers != asked.Load() {
		t.Fatalf("%d answers, the service gave %d: %+v", last.Answers, asked.Load(), last)
	}
	if len(readings) != 1+5+1 || last.Opened != 4 || last.Odd != 4 || last.ServiceCPUS <= readings[0].ServiceCPUS ||
		last.LatencySumS <= 0 || last.LeastLatencyS <= 0 || last.LeastLatencyS*float64(last.Answers) > last.LatencySumS {
		t.Fatalf("%+v", readings)
	}
}

func TestAReadingHasTheMeansSinceTheOneBefore(t *testing.T) {
	l := &load{began: time.Now()}
	first := l.reading()
	for _, answers := range []uint64{0, 512, 512} {
		l.answers = answers
		l.sample()
	}
	second, third := l.reading(), l.reading()
	if first.MeanAnswers != 0 || second.MeanAnswers != 384 || third.MeanAnswers != 512 {
		t.Fatalf("%+v", []Reading{first, second, third})
	}
	readings, _ := drive(t, hello, func(*Order) {})
	for number := 1; number < len(readings); number++ {
		before, now := readings[number-1], readings[number]
		if now.MeanAnswers < float64(before.Answers) || now.MeanAnswers > float64(now.Answers) ||
			now.MeanServiceCPUS < before.ServiceCPUS || now.MeanServiceCPUS > now.ServiceCPUS {
			t.Fatalf("reading %d: %+v", number, readings)
		}
	}
}

func TestRestsBetweenRequests(t *testing.T) {
	readings, failed := drive(t, hello, func(o *Order) { o.PauseMS = 10 })
	last := readings[len(readings)-1]
	if failed || last.Answers < 4 || last.Answers > 4*11 {
		t.Fatalf("%d answers on 4 connections that rest for 10 ms, in 100 ms: %+v", last.Answers, last)
	}
}

func TestStopsEarlyWithAllAnswersIn(t *testing.T) {
	var running *load
	var asked atomic.Uint64
	readings, failed := driveKnown(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 20 {
			running.stopped.Store(true)
		}
		hello(w, r)
	}, func(o *Order) { o.DurationMS = 60_000 }, func(made *load) { running = made })
	if last := readings[len(readings)-1]; failed || last.Answers < 20 || last.Answers != asked.Load() {
		t.Fatalf("%d asked: %+v", asked.Load(), last)
	}
}

func TestReadsOnceMoreWhereItIsAsked(t *testing.T) {
	var running *load
	var asked atomic.Uint64
	readings, failed := driveKnown(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 5 {
			running.asked.Store(true)
		}
		hello(w, r)
	}, func(*Order) {}, func(made *load) { running = made })
	if failed || len(readings) != 1+5+1+1 {
		t.Fatalf("%d readings: %+v", len(readings), readings)
	}
}

func TestComparesNoBodyThatIsNotGiven(t *testing.T) {
	another := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "another") }
	readings, failed := drive(t, another, func(o *Order) { o.Targets[0].Body = "" })
	if last := readings[len(readings)-1]; failed || last.Answers == 0 {
		t.Fatalf("%+v", last)
	}
}

func TestDrawsIDsAndNonces(t *testing.T) {
	var paths, bodies sync.Map
	readings, failed := drive(t, func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		paths.Store(r.URL.Path, true)
		bodies.Store(string(sent), true)
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":17,`+strings.TrimPrefix(string(sent), "{"))
	}, func(o *Order) {
		o.Targets[0] = Target{"POST", "/books/{id}", `{"name":"Book {nonce}"}`, `{"id":*,"name":"Book {nonce}"}`, 201, 5, 1}
	})
	if failed {
		t.Fatal(readings[len(readings)-1].Wrong)
	}
	count := func(m *sync.Map) (n int) { m.Range(func(_, _ any) bool { n++; return true }); return }
	if count(&paths) != 5 || count(&bodies) < 20 {
		t.Fatalf("%d paths, %d bodies", count(&paths), count(&bodies))
	}
}

func TestDrawsTargetsByTheirWeightsAndCountsEach(t *testing.T) {
	var asked [2]atomic.Uint64
	readings, failed := drive(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			asked[1].Add(1)
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "made")
			return
		}
		asked[0].Add(1)
		hello(w, r)
	}, func(o *Order) {
		o.Targets[0].Weight = 3
		o.Targets = append(o.Targets, Target{"POST", "/books", `{}`, "made", 201, 0, 1})
	})
	last := readings[len(readings)-1]
	if failed || last.AnswersOf[0] != asked[0].Load() || last.AnswersOf[1] != asked[1].Load() || last.AnswersOf[0]+last.AnswersOf[1] != last.Answers {
		t.Fatalf("failed %v, asked %d and %d: %+v", failed, asked[0].Load(), asked[1].Load(), last)
	}
	if share := float64(last.AnswersOf[0]) / float64(last.Answers); share < 0.6 || share > 0.9 {
		t.Fatalf("%.2f of %d were of the target with three of four weights", share, last.Answers)
	}
}

func TestAWrongAnswerEndsTheLoadAndIsQuoted(t *testing.T) {
	once := atomic.Uint64{}
	rarely := func(then http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if once.Add(1)%50 == 0 {
				then(w, r)
				return
			}
			hello(w, r)
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"another body":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hallo") },
		"another length": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello!") },
		"another status": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "away", http.StatusServiceUnavailable) },
		"no length": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "hello")
			w.(http.Flusher).Flush()
		},
		"no answer": func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			readings, failed := drive(t, rarely(handler), func(*Order) {})
			if last := readings[len(readings)-1]; !failed || !strings.Contains(last.Wrong, "GET /hello") {
				t.Fatalf("failed %v: %+v", failed, last)
			}
		})
	}
}

// bare listens, and lets answer write to a connection for each read of it: what was read is given.
func bare(t *testing.T, answer func(c io.Writer, read string)) func(*Order) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				for buffer := make([]byte, 4096); ; {
					read, err := c.Read(buffer)
					if err != nil {
						return
					}
					answer(c, string(buffer[:read]))
				}
			}()
		}
	}()
	return func(o *Order) { o.Address = listener.Addr().String() }
}

func TestWhoAnswersWithoutReadingIsFoundByTheLastRequest(t *testing.T) {
	readings, failed := drive(t, hello, bare(t, func(c io.Writer, _ string) {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
	}))
	last := readings[len(readings)-1]
	if !failed || last.Answers == 0 || !strings.Contains(last.Wrong, `asked "GET /iello HTTP/1.1`) || !strings.Contains(last.Wrong, "expected status 404") {
		t.Fatalf("failed %v: %+v", failed, last)
	}
}

func TestConnectionsThatTheServiceClosesAreCounted(t *testing.T) {
	readings, failed := drive(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Connection", "close"); hello(w, r) }, func(*Order) {})
	last := readings[len(readings)-1]
	if failed || last.Opened < 10 || uint64(last.Opened) != last.Answers+4 {
		t.Fatalf("%+v", last)
	}
}

func TestAnAnswerInPieces(t *testing.T) {
	readings, failed := drive(t, hello, bare(t, func(c io.Writer, read string) {
		if strings.HasPrefix(read, "GET /iello ") {
			_, _ = fmt.Fprintf(c, "HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n%s", len(nothing.Body), nothing.Body)
			return
		}
		for _, piece := range []string{"HTTP/1.1 200 OK\r\nCONTENT-LEN", "GTH: 5\r\nX: ", "y\r\n\r", "\nhel", "lo"} {
			_, _ = io.WriteString(c, piece)
		}
	}))
	if last := readings[len(readings)-1]; failed || last.Answers == 0 {
		t.Fatalf("%+v", last)
	}
}

func TestOrdersThatAreRefused(t *testing.T) {
	for text, says := range map[string]string{
		`{`: "not understood",
		`{"address":"127.0.0.1:1","colour":"red"}`:                                                                                 "colour",
		`{"address":"localhost:1"}`:                                                                                                "address",
		`{"address":"[::1]:1","connections":1}`:                                                                                    "IPv4",
		`{"address":"127.0.0.1:1","connections":0}`:                                                                                "connections",
		`{"address":"127.0.0.1:1","connections":1,"every_ms":100,"duration_ms":50}`:                                                "duration_ms",
		`{"address":"127.0.0.1:1","connections":1,"every_ms":100,"duration_ms":100}`:                                               "targets",
		`{"address":"127.0.0.1:1","connections":1,"every_ms":100,"duration_ms":100,"targets":[{}]}`:                                "targets.0.weight",
		`{"address":"127.0.0.1:1","connections":1,"every_ms":100,"duration_ms":100,"targets":[{"weight":1,"path":"/books/{id}"}]}`: "targets.0.ids",
		`{"address":"127.0.0.1:1","connections":1,"every_ms":100,"duration_ms":100,"targets":[{"weight":1,"body":"*a*"}]}`:         "more than one *",
	} {
		if _, err := parseOrder([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, each := range []struct {
		body, expected string
		is             bool
	}{
		{"hello", "hello", true}, {"hello ", "hello", false},
		{`{"id":12,"name":"a"}`, `{"id":*,"name":"a"}`, true}, {`{"id":,"name":"a"}`, `{"id":*,"name":"a"}`, false},
		{`{"id":1,"name":"b","name":"a"}`, `{"id":*,"name":"a"}`, false}, {"ab", "aab*b", false},
	} {
		if matches([]byte(each.body), []byte(each.expected)) != each.is {
			t.Errorf("%s, %s: not %v", each.body, each.expected, each.is)
		}
	}
}

func TestWitness(t *testing.T) {
	if speed := witness(); speed.RegisterStepsPerUS <= 0 || speed.MemoryStepsPerUS <= 0 || speed.SystemCallNS <= 0 {
		t.Fatalf("%+v", speed)
	}
}
