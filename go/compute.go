package main

import (
	"net/http"
	"time"
)

// compute is the 32-bit xorshift of C12 (Marsaglia 2003).
func (s *service) compute(_ http.ResponseWriter, r *http.Request) (any, error) {
	rounds, x := number(r, "rounds"), uint32(2463534242)
	for range rounds {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	return struct {
		Rounds int    `json:"rounds"`
		Result uint32 `json:"result"`
	}{rounds, x}, nil
}

// block has nothing to offload: time.Sleep parks a goroutine and blocks no thread (C13).
func (s *service) block(_ http.ResponseWriter, r *http.Request) (any, error) {
	ms, offload := number(r, "ms"), r.Form.Get("offload")
	time.Sleep(time.Duration(ms) * time.Millisecond)
	return map[string]any{"blocked_ms": ms, "offloaded": offload == "true"}, nil
}
