package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Patience is how long a connection may take to be made, and its first event to come.
const patience = 20 * time.Second

// Look is how often it is looked whether a connection was refused or ended.
const look = 50 * time.Millisecond

// Level is so many connections from a time on (ms since 1970). They are opened evenly over WithinMS.
type Level struct {
	Connections int   `json:"connections"`
	AtMS        int64 `json:"at_ms"`
	WithinMS    int64 `json:"within_ms"`
}

// Order is what to hold, and until when (ms since 1970).
type Order struct {
	URL     string  `json:"url"`
	Levels  []Level `json:"levels"`
	UntilMS int64   `json:"until_ms"`
	// UntilFull: no more are opened after the first that was refused or ended, and then it is over.
	UntilFull bool   `json:"until_full"`
	Report    string `json:"report"`
}

// Report counts connections.
type Report struct {
	Opened  int64  `json:"opened"`  // whose first event came
	Refused int64  `json:"refused"` // that had none: no connection, another status, or nothing in time
	Ended   int64  `json:"ended"`   // that the service ended before it was time
	Why     string `json:"why"`     // the first refusal or end, in words
}

func (o Order) check() error {
	address, err := url.Parse(o.URL)
	if err != nil || address.Scheme != "http" || address.Port() == "" {
		return fmt.Errorf("url=%q is not http://host:port/path", o.URL)
	}
	if o.Report == "" {
		return errors.New("report names no file")
	}
	below := 0
	for _, level := range o.Levels {
		if level.Connections < below {
			return fmt.Errorf("levels must not fall: %d after %d", level.Connections, below)
		}
		below = level.Connections
	}
	return nil
}

// counter is the report while it is being counted.
type counter struct {
	opened, refused, ended atomic.Int64
	over                   atomic.Bool
	why                    atomic.Pointer[string]
}

func (c *counter) say(err error) {
	why := err.Error()
	c.why.CompareAndSwap(nil, &why)
}

// hold returns when it is time to.
func hold(order Order) Report {
	var count counter
	var open sync.Map // of *net.TCPConn
	var all sync.WaitGroup
	opened := 0
	full := func() bool { return order.UntilFull && count.refused.Load()+count.ended.Load() > 0 }
	for _, level := range order.Levels {
		added := level.Connections - opened
		for number := range added {
			at := level.AtMS + level.WithinMS*int64(number)/int64(added)
			time.Sleep(time.Until(time.UnixMilli(at)))
			if full() {
				break
			}
			all.Go(func() { stream(order.URL, &count, &open) })
		}
		opened = level.Connections
	}
	for until := time.UnixMilli(order.UntilMS); time.Now().Before(until) && !full(); {
		time.Sleep(min(time.Until(until), look))
	}
	count.over.Store(true)
	open.Range(func(connection, _ any) bool {
		_ = connection.(net.Conn).Close()
		return true
	})
	all.Wait()
	report := Report{Opened: count.opened.Load(), Refused: count.refused.Load(), Ended: count.ended.Load()}
	if why := count.why.Load(); why != nil {
		report.Why = *why
	}
	return report
}

// stream is one connection, from its beginning to its end.
func stream(address string, count *counter, open *sync.Map) {
	connection, events, err := begin(address)
	if err != nil {
		count.refused.Add(1)
		count.say(err)
		return
	}
	defer connection.Close()
	open.Store(connection, nil)
	if count.over.Load() { // it came when the others had been closed
		return
	}
	count.opened.Add(1)
	if _, err := io.Copy(io.Discard, events); !count.over.Load() {
		count.ended.Add(1)
		count.say(fmt.Errorf("the service ended a stream: %w", errors.Join(err, io.EOF)))
	}
}

// begin asks for the stream and waits for its first event.
func begin(address string) (net.Conn, io.Reader, error) {
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, nil, err
	}
	connection, err := net.DialTimeout("tcp", request.URL.Host, patience)
	if err != nil {
		return nil, nil, err
	}
	events, err := first(connection, request)
	if err != nil {
		connection.Close()
		return nil, nil, err
	}
	return connection, events, nil
}

func first(connection net.Conn, request *http.Request) (io.Reader, error) {
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if err := request.Write(connection); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReaderSize(connection, 512), request) // small: there are ten thousand of them
	if err != nil {
		return nil, err
	}
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/event-stream") {
		return nil, fmt.Errorf("%s, %q instead of a stream of events", answer.Status, kind)
	}
	event := make([]byte, 64)
	if n, err := answer.Body.Read(event); n == 0 {
		return nil, errors.Join(err, errors.New("a stream without an event"))
	}
	return answer.Body, connection.SetDeadline(time.Time{})
}
