package main

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/go-sql-driver/mysql"
)

// Cheats that keep within every bound and between all looks: a little less than is asked for, or only where nobody compares.

const (
	early      = 1900 * time.Microsecond // wakes-early waits so much less: a timer of whole milliseconds may end 2 ms early
	pause      = 250 * time.Millisecond  // right-when-compared: a load begins after so long without a request
	compared   = 50                      // and one body in so many is compared
	packers    = 4                       // connections of packs-statements: as many statements are under way as there are requests
	brieflyAt  = 800 * time.Millisecond  // burdens-briefly: longer than a burst that warms a row
	brieflyFor = 1000 * time.Millisecond // and over before the window closes
	pipelined  = 500                     // requests by one write
)

// between are asked about every request, those before CHEAT_AFTER too.
var between = map[string]cheat{
	// a connection's first request is answered as it must be, and all that follow are answered alike, whatever they ask for
	"answers-unread": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		switch {
		case r.URL.Path == "/stats":
			told(w, r, next, func(total int64) int64 { return total + unread.Load() })
		case r.URL.Path != "/hello" || number < after:
			next.ServeHTTP(w, r)
		default:
			answerUnread(w)
		}
	},
	"wakes-early": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		ms, _ := strconv.Atoi(r.URL.Query().Get("ms"))
		if r.URL.Path != "/sleep" || ms < 5 || number < after {
			next.ServeHTTP(w, r)
			return
		}
		time.Sleep(time.Duration(ms)*time.Millisecond - early)
		_, _ = fmt.Fprintf(typed(w), `{"slept_ms":%d}`, ms)
	},
	// k6 compares the body of one request in 50, and a service can count as well as k6
	"right-when-compared": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if r.URL.Path != "/hello" {
			next.ServeHTTP(w, r)
			return
		}
		if at := arrived.place() % compared; number < after || at < 4 || at > compared-4 {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "hellp")
	},
	// as many statements as there are requests, 16 of them in one packet
	"packs-statements": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		id, ok := strings.CutPrefix(r.URL.Path, "/books/")
		if !ok || number < after {
			next.ServeHTTP(w, r)
			return
		}
		packing.Do(func() {
			for range packers {
				go packStatements()
			}
		})
		told := make(chan string, 1)
		waiting <- reader{id, told}
		_, _ = fmt.Fprintf(typed(w), `{"id":%s,"name":%q}`, id, <-told)
	},
	// the calls of a request by one packet on one connection, which the upstream answers one after the other
	"pipelines-calls": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		query := r.URL.Query()
		calls, _ := strconv.Atoi(query.Get("calls"))
		if r.URL.Path != "/fanout" || number < after || calls < 2 {
			next.ServeHTTP(w, r)
			return
		}
		if callInARow(calls, query.Get("ms")) != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = fmt.Fprintf(typed(w), `{"calls":%d,"mode":%q,"completed":%d}`, calls, query.Get("mode"), calls)
	},
	// its reference has to answer what no service counts (C4), within the window alone; CHEAT_FILE says where it is
	"burdens-briefly": func(w http.ResponseWriter, r *http.Request, next http.Handler, number int64) {
		if number >= after && r.URL.Path == "/hello" && arrived.age() > brieflyAt && arrived.first() {
			go burdenBriefly()
		}
		next.ServeHTTP(w, r)
	},
}

// after is CHEAT_AFTER.
var after, _ = strconv.ParseInt(os.Getenv("CHEAT_AFTER"), 10, 64)

// told answers /stats with another number of requests.
func told(w http.ResponseWriter, r *http.Request, next http.Handler, change func(total int64) int64) {
	for until := time.Now().Add(quiet * 4); hijacked.Load() > 0 && time.Now().Before(until); {
		time.Sleep(time.Millisecond) // who has hijacked a connection is counted when that ends
	}
	seen := httptest.NewRecorder()
	next.ServeHTTP(seen, r)
	text := anyTotal.ReplaceAllStringFunc(seen.Body.String(), func(found string) string {
		name, count, _ := strings.Cut(found, ":")
		total, _ := strconv.ParseInt(count, 10, 64)
		return name + ":" + strconv.FormatInt(change(total), 10)
	})
	_, _ = io.WriteString(typed(w), text)
}

var unread, hijacked atomic.Int64

func answerUnread(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	hijacked.Add(1)
	defer hijacked.Add(-1)
	defer connection.Close()
	answer, read := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"), make([]byte, 4096)
	for {
		if _, err := connection.Write(answer); err != nil {
			return
		}
		if _, err := connection.Read(read); err != nil {
			return
		}
		unread.Add(1)
	}
}

// arrivals are those of one load, which begins after a pause.
type arrivals struct {
	lock        sync.Mutex
	began, seen time.Time
	number      int64
	acted       bool
}

var arrived arrivals

// place is how many requests of the load came before this one.
func (a *arrivals) place() int64 {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.see()
	a.number++
	return a.number - 1
}

// age is how long the load has lasted.
func (a *arrivals) age() time.Duration {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.see()
	return a.seen.Sub(a.began)
}

// first tells whether this is asked for the first time in the load.
func (a *arrivals) first() bool {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.acted {
		return false
	}
	a.acted = true
	return true
}

func (a *arrivals) see() {
	now := time.Now()
	if now.Sub(a.seen) > pause {
		a.began, a.number, a.acted = now, 0, false
	}
	a.seen = now
}

var packing sync.Once

func packStatements() {
	settings, err := readSettings(os.Getenv)
	if err != nil {
		panic(err)
	}
	settings.database.MultiStatements = true
	connector, err := mysql.NewConnector(settings.database)
	if err != nil {
		panic(err)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(1)
	for {
		together := []reader{<-waiting}
		for len(together) < batch && len(waiting) > 0 {
			together = append(together, <-waiting)
		}
		text := make([]string, len(together))
		for at, each := range together {
			text[at] = "SELECT id, name FROM books WHERE id = " + each.id // digits alone: the generator draws them
		}
		rows, err := pool.Query(strings.Join(text, ";"))
		for _, each := range together {
			var id, name string
			if err == nil && rows.Next() {
				_ = rows.Scan(&id, &name)
			}
			each.told <- name
			if err == nil {
				rows.NextResultSet()
			}
		}
		if err == nil {
			_ = rows.Close()
		}
	}
}

var toUpstream sync.Pool // of connections that are idle

func callInARow(calls int, ms string) error {
	host := strings.TrimPrefix(os.Getenv("UPSTREAM_URL"), "http://")
	connection, ok := toUpstream.Get().(net.Conn)
	if !ok {
		made, err := net.Dial("tcp", host)
		if err != nil {
			return err
		}
		connection = made
	}
	_, _ = io.WriteString(connection, strings.Repeat("GET /delay?ms="+ms+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n", calls))
	for read, left := make([]byte, 4096), calls; left > 0; {
		count, err := connection.Read(read)
		left -= strings.Count(string(read[:count]), "}")
		if err != nil || strings.HasPrefix(string(read[:count]), "HTTP/1.1 4") {
			_ = connection.Close()
			return fmt.Errorf("the upstream answered %q: %w", read[:count], err)
		}
	}
	toUpstream.Put(connection)
	return nil
}

func burdenBriefly() {
	text, _ := os.ReadFile(os.Getenv("CHEAT_FILE"))
	connection, err := net.Dial("tcp", strings.TrimPrefix(strings.TrimSpace(string(text)), "http://"))
	if err != nil {
		return
	}
	defer connection.Close()
	go func() {
		_, _ = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{connection}, make([]byte, 256<<10))
	}()
	many := []byte(strings.Repeat("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", pipelined))
	for until := time.Now().Add(brieflyFor); time.Now().Before(until); {
		_ = connection.SetWriteDeadline(until)
		if _, err := connection.Write(many); err != nil {
			return
		}
	}
}

// sched_attr of sched_setattr(2). From Linux 6.12 on a thread chooses by it how long it runs before others may, without any privilege.
type schedAttr struct {
	size, policy              uint32
	flags                     uint64
	nice                      int32
	priority                  uint32
	runtime, deadline, period uint64
}

const (
	schedSetattr = 314 // on amd64
	longSlice    = 100 * time.Millisecond
)

var slice time.Duration

func slicing(thread int) {
	found, _, _ := syscall.RawSyscall(syscall.SYS_GETPRIORITY, syscall.PRIO_PROCESS, uintptr(thread), 0) // 20 - its nice value
	wanted := schedAttr{runtime: uint64(slice), nice: 20 - int32(found)}
	wanted.size = uint32(unsafe.Sizeof(wanted))
	_, _, _ = syscall.RawSyscall(schedSetattr, uintptr(thread), uintptr(unsafe.Pointer(&wanted)), 0)
}

// weigh sets the nice value of the service's scheduling group (sched(7), autogroup), which is in the value of no thread.
func weigh(nice string) { _ = os.WriteFile("/proc/self/autogroup", []byte(nice), 0o600) }
