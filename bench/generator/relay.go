package main

import (
	"fmt"
	"io"
	"net"
	"time"
)

// drained is how long a client may take to close a connection that is over.
const drained = 5 * time.Second

// relay leads connections to one port on to another, both of this machine's own network. What `kubectl port-forward` forwards goes through
// it: where one connection is refused or reset, kubectl gives up all of them. Here it is an end of that one.
func relay(from, to int) error {
	listener, err := net.ListenTCP("tcp4", local(from))
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	go func() {
		for {
			client, err := listener.AcceptTCP()
			if err != nil {
				return
			}
			go pass(client, local(to))
		}
	}()
	return nil
}

func local(port int) *net.TCPAddr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
}

func pass(client *net.TCPConn, to *net.TCPAddr) {
	defer client.Close()
	if service, err := net.DialTCP("tcp4", nil, to); err == nil {
		go func() {
			_, _ = io.Copy(service, client)
			_ = service.CloseWrite()
		}()
		_, _ = io.Copy(client, service)
		_ = service.Close()
	}
	_ = client.CloseWrite()
	_ = client.SetReadDeadline(time.Now().Add(drained))
	_, _ = io.Copy(io.Discard, client) // a close with bytes that nobody has read is a reset
}
