package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOnlyAReadyServiceIsHealthy(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	if err := check(server.URL + "/readyz"); err != nil {
		t.Errorf("ready: %v", err)
	}
	status = http.StatusServiceUnavailable
	if err := check(server.URL + "/readyz"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("not ready: %v", err)
	}
	server.Close()
	if check(server.URL+"/readyz") == nil {
		t.Error("not there, but healthy")
	}
}
