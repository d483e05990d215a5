package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

const upstreamIdle = 24 * time.Hour // C63

// newUpstream makes the one client of C63: connections without limit, all of them kept (net/http would keep two).
func newUpstream(s settings) *http.Client {
	return &http.Client{
		Timeout: s.upstreamTimeout,
		Transport: &http.Transport{ // no proxy
			DialContext:         (&net.Dialer{Timeout: s.upstreamTimeout}).DialContext,
			MaxIdleConnsPerHost: math.MaxInt,
			IdleConnTimeout:     upstreamIdle,
			DisableCompression:  true,
			Protocols:           onlyHTTP1(),
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // not 200 (C37)
	}
}

func (s *service) fanout(w http.ResponseWriter, r *http.Request) error {
	p := parametersOf(r)
	calls := p.whole("calls", 1, 1000)
	ms := p.whole("ms", 0, maxMS)
	mode := p.oneOf("mode", "concurrent", "sequential")
	if p.err != nil {
		return p.err
	}
	url := fmt.Sprintf("%s/delay?ms=%d", s.settings.upstreamURL, ms)
	var err error
	if mode == "concurrent" {
		err = s.callAtOnce(r.Context(), calls, url)
	} else {
		err = s.callInTurn(r.Context(), calls, url)
	}
	if err != nil {
		return err
	}
	return ok(w, struct {
		Calls     int    `json:"calls"`
		Mode      string `json:"mode"`
		Completed int    `json:"completed"`
	}{calls, mode, calls})
}

// callAtOnce gives up the other calls when one fails.
func (s *service) callAtOnce(ctx context.Context, calls int, url string) error {
	group, ctx := errgroup.WithContext(ctx)
	for range calls {
		group.Go(func() error { return s.call(ctx, url) })
	}
	return group.Wait()
}

func (s *service) callInTurn(ctx context.Context, calls int, url string) error {
	for range calls {
		if err := s.call(ctx, url); err != nil {
			return err
		}
	}
	return nil
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
	if _, err := io.Copy(io.Discard, response.Body); err != nil { // read to its end, or the connection is not kept
		return fmt.Errorf("%w: %w", errNoUpstream, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: status %d", errNoUpstream, response.StatusCode)
	}
	return nil
}
