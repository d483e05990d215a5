package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

const (
	maxMessage = 65_536      // bytes, C24
	closeLimit = time.Second // for clients that do not answer a close at the service's end
)

// streams are connections that last as long as their client wants, or until the service stops (C41).
type streams struct {
	stopping context.Context
	sockets  sync.WaitGroup // net/http knows nothing any more of a connection that became a WebSocket
}

// waitForSockets lets the closes reach their clients.
func (s *streams) waitForSockets() {
	gone := make(chan struct{})
	go func() {
		s.sockets.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(closeLimit):
	}
}

// events writes until the client has left: its context says so, or else a write that fails.
func (s *service) events(w http.ResponseWriter, r *http.Request) error {
	p := parametersOf(r)
	interval := p.whole("interval_ms", 10, 60_000)
	if p.err != nil {
		return p.err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	output := http.NewResponseController(w)
	ticker := time.NewTicker(time.Duration(interval) * time.Millisecond)
	defer ticker.Stop()
	for number := 0; ; number++ {
		fmt.Fprintf(w, "data: %d\n\n", number)
		if output.Flush() != nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return nil
		case <-s.streams.stopping.Done():
			return nil
		}
	}
}

// echo sends every message back until the client leaves.
func (s *service) echo(w http.ResponseWriter, r *http.Request) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade") // RFC 9110 asks for it beside Upgrade
		return errNoUpgrade
	}
	s.streams.sockets.Add(1)
	defer s.streams.sockets.Done()
	// What it skips is the check of Origin.
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // it has answered a malformed handshake itself
	}
	defer socket.CloseNow()
	socket.SetReadLimit(maxMessage) // what is longer it closes with 1009
	stop := context.AfterFunc(s.streams.stopping, func() { socket.Close(websocket.StatusGoingAway, "") })
	defer stop()
	for {
		kind, message, err := socket.Read(r.Context())
		if err != nil {
			return nil // the client left, was told to, or the service stops
		}
		if kind == websocket.MessageText && !utf8.Valid(message) { // which the library leaves to us
			socket.Close(websocket.StatusInvalidFramePayloadData, "")
			return nil
		}
		if socket.Write(r.Context(), kind, message) != nil {
			return nil
		}
	}
}
