package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"

	"golang.org/x/sync/errgroup"
)

// newUpstream makes the one client of C63: as many connections as there are calls, all of them kept.
func newUpstream(s settings) *http.Client {
	return &http.Client{
		Timeout:       s.upstreamTimeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: math.MaxInt, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // not 200 (C37)
	}
}

func (s *service) fanout(_ http.ResponseWriter, r *http.Request) (any, error) {
	calls, ms, mode := number(r, "calls"), number(r, "ms"), r.Form.Get("mode")
	group, ctx := errgroup.WithContext(r.Context()) // gives up the other calls when one fails
	if mode == "sequential" {
		group.SetLimit(1)
	}
	url := fmt.Sprintf("%s/delay?ms=%d", s.settings.upstreamURL, ms)
	for range calls {
		group.Go(func() error { return s.call(ctx, url) })
	}
	return struct {
		Calls     int    `json:"calls"`
		Mode      string `json:"mode"`
		Completed int    `json:"completed"`
	}{calls, mode, calls}, group.Wait()
}

func (s *service) call(ctx context.Context, url string) error {
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, url, nil) // readSettings has parsed its address
	response, err := s.upstream.Do(request)
	if err == nil {
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body) // read to its end, or the connection is not kept
	}
	if err != nil || response.StatusCode != http.StatusOK {
		return newProblem(502, "the upstream did not answer") // C37
	}
	return nil
}
