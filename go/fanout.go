package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

const upstreamIdle = 24 * time.Hour // C63

// newUpstream makes the one client of C63: connections without limit, all of them kept (net/http would keep two), no proxy.
func newUpstream(s settings) *http.Client {
	return &http.Client{
		Timeout:       s.upstreamTimeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: math.MaxInt, IdleConnTimeout: upstreamIdle, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // not 200 (C37)
	}
}

func (s *service) fanout(_ http.ResponseWriter, r *http.Request) (any, error) {
	p := parameters{values: r.URL.Query()}
	calls := p.whole("calls", 1, 1000)
	ms := p.whole("ms", 0, maxMS)
	mode := p.oneOf("mode", "concurrent", "sequential")
	if p.err != nil {
		return nil, p.err
	}
	group, ctx := errgroup.WithContext(r.Context()) // gives up the other calls when one fails
	if mode == "sequential" {
		group.SetLimit(1)
	}
	url := fmt.Sprintf("%s/delay?ms=%d", s.settings.upstreamURL, ms)
	for range calls {
		group.Go(func() error { return s.call(ctx, url) })
	}
	err := group.Wait()
	return struct {
		Calls     int    `json:"calls"`
		Mode      string `json:"mode"`
		Completed int    `json:"completed"`
	}{calls, mode, calls}, err
}

func (s *service) call(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := s.upstream.Do(request)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoUpstream, err)
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body) // read to its end, or the connection is not kept
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s, %v", errNoUpstream, response.Status, err)
	}
	return nil
}
