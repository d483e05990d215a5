package main

import (
	"io"
	"net"
	"testing"
)

// asked is what comes back through a relay to that port, until the end of the connection.
func asked(t *testing.T, to int, sent string) string {
	t.Helper()
	free, from := listening(t)
	_ = free.Close()
	if err := relay(from, to); err != nil {
		t.Fatal(err)
	}
	client, err := net.DialTCP("tcp4", nil, local(from))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte(sent)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(client)
	if err != nil {
		t.Errorf("the connection did not just end: %v", err)
	}
	return string(got)
}

func listening(t *testing.T) (listener *net.TCPListener, port int) {
	t.Helper()
	listener, err := net.ListenTCP("tcp4", local(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener, listener.Addr().(*net.TCPAddr).Port
}

func TestARelayPassesBothWays(t *testing.T) {
	listener, port := listening(t)
	go func() {
		service, _ := listener.AcceptTCP()
		question := make([]byte, 3)
		_, _ = io.ReadFull(service, question)
		_, _ = service.Write(append([]byte("answer to "), question...))
		_ = service.Close()
	}()
	if got := asked(t, port, "abc"); got != "answer to abc" {
		t.Errorf("got %q", got)
	}
}

func TestWhatAServiceRefusesOrResetsIsAnEnd(t *testing.T) {
	listener, port := listening(t)
	_ = listener.Close()
	if got := asked(t, port, "abc"); got != "" {
		t.Errorf("nobody listens, and got %q", got)
	}
	listener, port = listening(t)
	go func() {
		service, _ := listener.AcceptTCP()
		_ = service.SetLinger(0) // its close is a reset
		_ = service.Close()
	}()
	if got := asked(t, port, "abc"); got != "" {
		t.Errorf("got %q", got)
	}
}
