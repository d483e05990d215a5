package main

import (
	"net/http"
	"time"
)

func (s *service) compute(w http.ResponseWriter, r *http.Request) error {
	p := parametersOf(r)
	rounds := p.whole("rounds", 1, 10_000_000)
	if p.err != nil {
		return p.err
	}
	return ok(w, struct {
		Rounds int    `json:"rounds"`
		Result uint32 `json:"result"`
	}{rounds, xorshift(rounds)})
}

// xorshift is the 32-bit generator of C12 (Marsaglia 2003).
func xorshift(rounds int) uint32 {
	x := uint32(2463534242)
	for range rounds {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return x
}

// block sleeps the same either way: time.Sleep parks a goroutine and blocks no thread, so there is nothing to offload (C13).
func (s *service) block(w http.ResponseWriter, r *http.Request) error {
	p := parametersOf(r)
	ms := p.whole("ms", 0, 1000)
	offload := p.oneOf("offload", "false", "true")
	if p.err != nil {
		return p.err
	}
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return ok(w, struct {
		BlockedMS int  `json:"blocked_ms"`
		Offloaded bool `json:"offloaded"`
	}{ms, offload == "true"})
}
