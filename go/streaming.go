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

const maxMessage = 65_536 // bytes, C24

// streams last as long as their client wants, or until the service stops (C41).
type streams struct {
	stopping context.Context
	sockets  sync.WaitGroup // net/http forgets a connection that became a WebSocket
}

// events writes until the client has left: its context says so, or else a write that fails.
func (s *service) events(w http.ResponseWriter, r *http.Request) (any, error) {
	p := parameters{values: r.URL.Query()}
	interval := p.whole("interval_ms", 10, 60_000)
	if p.err != nil {
		return nil, p.err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil, nil
	}
	output := http.NewResponseController(w)
	next := time.Tick(time.Duration(interval) * time.Millisecond)
	for number := 0; ; number++ {
		fmt.Fprintf(w, "data: %d\n\n", number)
		if output.Flush() != nil {
			return nil, nil
		}
		select {
		case <-next:
		case <-r.Context().Done():
			return nil, nil
		case <-s.streams.stopping.Done():
			return nil, nil
		}
	}
}

// ws sends every message back until the client leaves or the service stops.
func (s *service) ws(w http.ResponseWriter, r *http.Request) (any, error) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade") // RFC 9110 asks for it beside Upgrade
		return nil, errNoUpgrade
	}
	s.streams.sockets.Add(1)
	defer s.streams.sockets.Done()
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // any Origin (C24)
	if err != nil {
		return nil, nil // it has answered a malformed handshake itself
	}
	defer socket.CloseNow()
	socket.SetReadLimit(maxMessage) // what is longer it closes with 1009
	defer context.AfterFunc(s.streams.stopping, func() { socket.Close(websocket.StatusGoingAway, "") })()
	for {
		kind, message, err := socket.Read(r.Context())
		if err == nil && kind == websocket.MessageText && !utf8.Valid(message) { // which the library leaves to us
			socket.Close(websocket.StatusInvalidFramePayloadData, "")
			return nil, nil
		}
		if err != nil || socket.Write(r.Context(), kind, message) != nil {
			return nil, nil
		}
	}
}
