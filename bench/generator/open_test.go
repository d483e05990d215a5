package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// flowing is an open load of 100 users within 100 ms, 60 of them counted, who wait for 50 ms; what became of them.
func flowing(t *testing.T, handler http.HandlerFunc, change func(*Order)) Tally {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	order := Order{
		Address: strings.TrimPrefix(server.URL, "http://"), Targets: []Target{{Method: "GET", Path: "/hello", Body: "hello", Status: 200, Weight: 1}},
		Seed: 1, Connections: 200,
		Open: &Open{AtS: float64(time.Now().Add(10*time.Millisecond).UnixMicro()) / 1e6, RatePerS: 1000, LeadMS: 20, WindowMS: 60, TailMS: 20, GiveUpMS: 50},
	}
	change(&order)
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	if order, err = parseOrder(text); err != nil {
		t.Fatal(err)
	}
	flow, err := newFlow(order)
	if err != nil {
		t.Fatal(err)
	}
	tally, err := flow.run()
	if err != nil {
		t.Fatal(err)
	}
	ended := tally.Good + tally.GaveUp + tally.Refused + tally.Reset
	for _, count := range tally.Statuses {
		ended += count
	}
	latencies := 0
	for _, count := range tally.Latencies {
		latencies += count
	}
	if tally.Wrong == "" && (ended != tally.Arrivals || latencies != tally.Good || tally.GoodFirst > tally.Good || tally.Unsent > tally.GaveUp) {
		t.Fatalf("the counts do not agree: %+v", tally)
	}
	return tally
}

func TestEveryUserWhoCameIsCounted(t *testing.T) {
	var asked atomic.Uint64
	tally := flowing(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); hello(w, r) }, func(o *Order) { o.Open.GiveUpMS = 5000 })
	if tally.Arrivals != 60 || tally.Good != 60 || tally.GoodFirst != 30 || tally.Queued != 0 || tally.BackMS != -1 || tally.Singles != 0 {
		t.Fatalf("%+v", tally)
	}
	if tally.SentOf[0] != 100 || tally.AnsweredOf[0] != 100 || asked.Load() != 100 || tally.Opened > 100 || tally.LagP99MS > tally.LagMaxMS {
		t.Fatalf("asked %d: %+v", asked.Load(), tally)
	}
}

func TestUsersLeaveAServiceThatStalls(t *testing.T) {
	stalls := func(w http.ResponseWriter, r *http.Request) { time.Sleep(200 * time.Millisecond); hello(w, r) }
	tally := flowing(t, stalls, func(*Order) {})
	if tally.GaveUp != 60 || tally.Unsent != 0 || tally.AnsweredOf[0] != 0 || tally.SentOf[0] != 100 {
		t.Fatalf("%+v", tally)
	}
	tally = flowing(t, stalls, func(o *Order) { o.Connections = 3 }) // all others wait for one of three
	if tally.GaveUp != 60 || tally.Queued != 60 || tally.MostOpen != 3 {
		t.Fatalf("%+v", tally)
	}
}

func TestLatencyIsFromTheSchedule(t *testing.T) {
	var one sync.Mutex
	slow := func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		time.Sleep(3 * time.Millisecond) // a third of what comes
		hello(w, r)
	}
	for _, connections := range []int{1, 200} { // they wait for the connection, or in the service
		tally := flowing(t, slow, func(o *Order) { o.Connections, o.Open.GiveUpMS = connections, 5000 })
		if first := lowest(tally.LatencyFrom); tally.Good != 60 || first < 20*time.Millisecond {
			t.Fatalf("with %d connections the quickest of %d took %v", connections, tally.Good, first)
		}
	}
}

func TestKindsAreToldApart(t *testing.T) {
	var number atomic.Uint64
	tally := flowing(t, func(w http.ResponseWriter, r *http.Request) {
		switch number.Add(1) % 4 {
		case 0:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case 1:
			c, _, _ := w.(http.Hijacker).Hijack()
			_ = c.Close()
		default:
			hello(w, r)
		}
	}, func(o *Order) { o.Open.GiveUpMS = 5000 })
	if near := func(count int) bool { return count >= 12 && count <= 18 }; !near(tally.Reset) || !near(tally.Statuses[503]) || tally.Good < 27 {
		t.Fatalf("%+v", tally)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	tally = flowing(t, hello, func(o *Order) { o.Address = listener.Addr().String() })
	if tally.Refused != 60 || tally.SentOf[0] != 0 {
		t.Fatalf("%+v", tally)
	}
}

func TestAWrongBodyEndsAnOpenLoad(t *testing.T) {
	tally := flowing(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hallo") }, func(*Order) {})
	if !strings.Contains(tally.Wrong, "GET /hello") || !strings.Contains(tally.Wrong, "hallo") {
		t.Fatalf("%+v", tally)
	}
}

func TestSingleUsersTellWhenTheServiceIsBack(t *testing.T) {
	for name, away := range map[string]time.Duration{"at once": 0, "later": 300 * time.Millisecond, "never": time.Hour} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			tally := flowing(t, func(w http.ResponseWriter, r *http.Request) {
				if time.Since(began) < away {
					time.Sleep(80 * time.Millisecond)
				}
				hello(w, r)
			}, func(o *Order) { o.Open.QuickMS, o.Open.LimitMS = 40, 600 })
			after := 300.0 - 110 // the load ends some 110 ms after the beginning
			switch {
			case name == "at once" && (tally.BackMS != 0 || tally.Singles != 3):
			case name == "later" && (tally.BackMS < after-60 || tally.BackMS > after+250):
			case name == "never" && (tally.BackMS != -1 || tally.Singles < 5):
			default:
				return
			}
			t.Fatalf("%+v", tally)
		})
	}
}

func TestEachSingleUserComesOnANewConnection(t *testing.T) {
	of := map[string]int{}
	var mutex sync.Mutex
	tally := flowing(t, func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		of[r.RemoteAddr]++
		mutex.Unlock()
		hello(w, r)
	}, func(o *Order) { o.Open.GiveUpMS, o.Open.QuickMS, o.Open.LimitMS = 5000, 4000, 600 })
	alone := 0
	for _, count := range of {
		if count == 1 {
			alone++
		}
	}
	if tally.Singles != 3 || alone < 3 || len(of) != tally.Opened {
		t.Fatalf("%d of %d connections had one request: %+v", alone, len(of), tally)
	}
}

func TestEachTimeIsWithinItsBucket(t *testing.T) {
	before := -1
	for of := time.Duration(0); of < 20*time.Second; of += of/50 + time.Microsecond {
		number := bucket(of)
		if number < before || lowest(number) > of || lowest(number+1) <= of || lowest(number+1)-lowest(number) > max(time.Microsecond, of/8) {
			t.Fatalf("%v is in bucket %d, from %v to %v", of, number, lowest(number), lowest(number+1))
		}
		before = number
	}
}

func TestOpenLoadsThatAreRefused(t *testing.T) {
	const before = `{"address":"127.0.0.1:1","connections":1,"targets":[{"weight":1}],"open":`
	for text, says := range map[string]string{
		`{"at_s":1}`:                      "open.rate_per_s",
		`{"rate_per_s":5,"give_up_ms":5}`: "open.window_ms",
		`{"rate_per_s":5,"give_up_ms":5,"window_ms":5,"lead_ms":-1}`:   "open.window_ms",
		`{"rate_per_s":5,"window_ms":5}`:                               "open.give_up_ms",
		`{"rate_per_s":5,"window_ms":5,"give_up_ms":5,"colour":"red"}`: "colour",
	} {
		if _, err := parseOrder([]byte(before + text + "}")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
