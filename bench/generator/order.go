package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
)

// Order is what to send, what to expect and for how long.
type Order struct {
	// Address is HOST:PORT of the service; HOST is an IP address.
	Address string `json:"address"`
	// Targets: of several, one is drawn for each request, by their weights.
	Targets     []Target `json:"targets"`
	Seed        uint64   `json:"seed"`
	Connections int      `json:"connections"`
	// PauseMS: each connection rests for so long between an answer and its next request.
	PauseMS int `json:"pause_ms"`
	// EveryMS is the time between two readings, DurationMS the time from the first to the last one.
	EveryMS    int `json:"every_ms"`
	DurationMS int `json:"duration_ms"`
	// PIDs are the service's processes, whose CPU clocks are read.
	PIDs []int `json:"pids"`
	// Open is an open load in the place of one request at a time on each connection; EveryMS, DurationMS and PauseMS are not for it.
	Open *Open `json:"open"`
}

// Target is one kind of request, and what must be answered.
type Target struct {
	Method string `json:"method"`
	// Path, Send and Body may hold {id}, a number from 1 to IDs drawn for each request, and {nonce}, ten random digits.
	Path string `json:"path"`
	Send string `json:"send"`
	// Body is the whole expected body; one * in it stands for one or more characters other than a quote. Empty: it is not compared.
	Body   string `json:"body"`
	Status int    `json:"status"`
	IDs    int    `json:"ids"`
	Weight int    `json:"weight"`
}

func parseOrder(text []byte) (Order, error) {
	var order Order
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&order); err != nil {
		return order, fmt.Errorf("the order is not understood: %w", err)
	}
	address, err := netip.ParseAddrPort(order.Address)
	switch {
	case err != nil:
		return order, fmt.Errorf("address: %w", err)
	case !address.Addr().Is4():
		return order, fmt.Errorf("address: %s is no IPv4 address", address.Addr())
	case order.Connections < 1:
		return order, fmt.Errorf("connections: %d is less than 1", order.Connections)
	case order.Open == nil && (order.EveryMS < 1 || order.DurationMS < order.EveryMS):
		return order, fmt.Errorf("duration_ms: %d is less than one reading of every_ms, %d", order.DurationMS, order.EveryMS)
	case len(order.Targets) == 0:
		return order, fmt.Errorf("targets: there is none")
	}
	if order.Open != nil {
		if err := order.Open.mistake(); err != nil {
			return order, err
		}
	}
	for number, target := range order.Targets {
		switch {
		case target.Weight < 1:
			return order, fmt.Errorf("targets.%d.weight: %d is less than 1", number, target.Weight)
		case target.IDs < 1 && bytes.Contains([]byte(target.Path+target.Send+target.Body), []byte("{id}")):
			return order, fmt.Errorf("targets.%d.ids: %d, and there is an {id} to be drawn", number, target.IDs)
		case bytes.Count([]byte(target.Body), []byte("*")) > 1:
			return order, fmt.Errorf("targets.%d.body: holds more than one *", number)
		}
	}
	return order, nil
}

// template is a text with places for {id} and {nonce}.
type template struct {
	parts [][]byte
	names []byte // of the places between the parts: i or n
}

func parseTemplate(text string) template {
	var found template
	rest := []byte(text)
	for {
		id, nonce := bytes.Index(rest, []byte("{id}")), bytes.Index(rest, []byte("{nonce}"))
		switch {
		case id < 0 && nonce < 0:
			found.parts = append(found.parts, rest)
			return found
		case nonce < 0 || (id >= 0 && id < nonce):
			found.parts, found.names = append(found.parts, rest[:id]), append(found.names, 'i')
			rest = rest[id+len("{id}"):]
		default:
			found.parts, found.names = append(found.parts, rest[:nonce]), append(found.names, 'n')
			rest = rest[nonce+len("{nonce}"):]
		}
	}
}

// fill appends the text with its values.
func (t template) fill(to []byte, id, nonce uint64) []byte {
	for number, part := range t.parts {
		to = append(to, part...)
		if number < len(t.names) {
			if t.names[number] == 'i' {
				to = strconv.AppendUint(to, id, 10)
			} else {
				to = strconv.AppendUint(to, nonce, 10)
			}
		}
	}
	return to
}
