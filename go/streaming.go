package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// events writes until the client has left, of which the request's context tells, or until the service stops.
func (s *service) events(w http.ResponseWriter, r *http.Request) (any, error) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	next := time.Tick(time.Duration(number(r, "interval_ms")) * time.Millisecond)
	for number := 0; r.Method != http.MethodHead && r.Context().Err() == nil && s.stopping.Err() == nil; number++ {
		fmt.Fprintf(w, "data: %d\n\n", number)
		http.NewResponseController(w).Flush() // where it fails, net/http ends the context
		select {
		case <-next:
		case <-r.Context().Done():
		case <-s.stopping.Done():
		}
	}
	return nil, nil
}

// ws sends every message back until the client leaves or the service stops.
func (s *service) ws(w http.ResponseWriter, r *http.Request) (any, error) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("Connection", "Upgrade") // RFC 9110 asks for it beside Upgrade
		return nil, newProblem(426, "upgrade to a WebSocket")
	}
	s.sockets.Add(1)
	defer s.sockets.Done()
	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // any Origin (C24)
	if err != nil {
		return nil, nil // it has answered a malformed handshake itself
	}
	defer socket.CloseNow()
	socket.SetReadLimit(65_536) // bytes; what is longer it closes with 1009 (C24)
	defer context.AfterFunc(s.stopping, func() { socket.Close(websocket.StatusGoingAway, "") })()
	for {
		kind, message, err := socket.Read(r.Context())
		if err == nil && kind == websocket.MessageText && !utf8.Valid(message) { // which the library leaves to us
			socket.Close(websocket.StatusInvalidFramePayloadData, "") // after which Write fails
		}
		if err != nil || socket.Write(r.Context(), kind, message) != nil {
			return nil, nil
		}
	}
}
