package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOnlyAnUpstreamThatAnswersIsHealthy(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	var said strings.Builder
	if code := check(server.URL+"/hello", &said); code != 0 || said.String() != "" {
		t.Errorf("answers: %d, %q", code, said.String())
	}
	status = http.StatusServiceUnavailable
	if code := check(server.URL+"/hello", &said); code != 1 || !strings.Contains(said.String(), "503") {
		t.Errorf("refuses: %d, %q", code, said.String())
	}
	server.Close()
	if code := check(server.URL+"/hello", &said); code != 1 {
		t.Errorf("not there: %d", code)
	}
}
