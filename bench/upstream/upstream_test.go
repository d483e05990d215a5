package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The test binary becomes the program itself where this variable is set: exit codes and signals are tested for real.
const asProgram = "NSB_RUN_UPSTREAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(run(os.Getenv, os.Stderr))
	}
	os.Exit(m.Run())
}

func start(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(newUpstream())
	t.Cleanup(server.Close)
	return server.URL
}

func call(t *testing.T, method, url string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

// eventually waits until /stats says want.
func eventually(t *testing.T, url, want string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, got = call(t, "GET", url+"/stats"); got == want {
			return
		}
	}
	t.Fatalf("stats: got %s, want %s", got, want)
}

func TestCallsThatComeInOnePacketAreRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: newUpstream()}
	defer server.Close()
	go func() { _ = server.Serve(inTurn{listener}) }()
	one := "GET /delay?ms=1 HTTP/1.1\r\nHost: x\r\n\r\n"
	for calls, want := range map[string]string{one: "HTTP/1.1 200 OK", one + one: "HTTP/1.1 400 Bad Request"} {
		connection, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(connection, calls)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(connection, got); err != nil || string(got) != want {
			t.Fatalf("%v, %q in the place of %q", err, got, want)
		}
		_ = connection.Close()
	}
}

func TestHelloIsPlainText(t *testing.T) {
	response, body := call(t, "GET", start(t)+"/hello")
	if response.StatusCode != 200 || body != "hello" || response.Header.Get("Content-Type") != "text/plain" || response.ContentLength != 5 {
		t.Fatalf("%v %q", response, body)
	}
}

func TestDelayWaitsAndSaysHowLong(t *testing.T) {
	url := start(t)
	for _, ms := range []int{0, 1, 40} {
		began := time.Now()
		response, body := call(t, "GET", fmt.Sprintf("%s/delay?ms=%d", url, ms))
		if response.StatusCode != 200 || body != fmt.Sprintf(`{"delayed_ms":%d}`, ms) {
			t.Fatalf("%v %q", response, body)
		}
		if waited := time.Since(began); waited < time.Duration(ms)*time.Millisecond {
			t.Fatalf("ms=%d took only %v", ms, waited)
		}
	}
}

func TestDelayRefusesWhatIsNoWholeNumber(t *testing.T) {
	url := start(t)
	for _, query := range []string{"", "?ms=", "?ms=-1", "?ms=1.5", "?ms=01", "?ms=60001", "?ms=99999999999999999999", "?ms=1&ms=2", "?MS=1"} {
		if response, body := call(t, "GET", url+"/delay"+query); response.StatusCode != 400 {
			t.Errorf("%q: %d %q", query, response.StatusCode, body)
		}
	}
}

func TestStatsCountCallsAndTheirPeak(t *testing.T) {
	url := start(t)
	eventually(t, url, `{"calls_total":0,"asked_ms_total":0,"in_flight":0,"in_flight_peak":0}`)

	// Three calls that stay until told to leave: they overlap for certain.
	ctx, leave := context.WithCancel(context.Background())
	var left sync.WaitGroup
	for range 3 {
		left.Go(func() {
			request, _ := http.NewRequestWithContext(ctx, "GET", url+"/delay?ms=60000", nil)
			if response, err := http.DefaultClient.Do(request); err == nil {
				response.Body.Close()
				t.Error("a call that was left got an answer")
			}
		})
	}
	eventually(t, url, `{"calls_total":3,"asked_ms_total":180000,"in_flight":3,"in_flight_peak":3}`)

	if _, body := call(t, "POST", url+"/reset"); body != `{"calls_total":0,"asked_ms_total":0,"in_flight":3,"in_flight_peak":3}` {
		t.Errorf("a reset sets the peak to what is in flight: %s", body)
	}
	leave()
	left.Wait()
	eventually(t, url, `{"calls_total":0,"asked_ms_total":0,"in_flight":0,"in_flight_peak":3}`) // long before the 60 s: leaving ends the wait

	call(t, "POST", url+"/reset")
	for range 3 {
		call(t, "GET", url+"/delay?ms=1")
	}
	eventually(t, url, `{"calls_total":3,"asked_ms_total":3,"in_flight":0,"in_flight_peak":1}`) // one after the other
}

func TestResetNeedsPost(t *testing.T) {
	if response, _ := call(t, "GET", start(t)+"/reset"); response.StatusCode != 405 {
		t.Fatal(response.Status)
	}
}

func program(environment ...string) (*exec.Cmd, *strings.Builder) {
	stderr := &strings.Builder{}
	command := exec.Command(os.Args[0])
	command.Env = append(environment, asProgram+"=1")
	command.Stderr = stderr
	return command, stderr
}

func TestAWrongPortEndsTheStartWithTwo(t *testing.T) {
	for _, port := range []string{"abc", "0", "65536", "080", "-1"} {
		command, stderr := program("PORT=" + port)
		err := command.Run()
		want := fmt.Sprintf("PORT=%q is not a whole number from 1 to 65535\n", port)
		if command.ProcessState.ExitCode() != 2 || stderr.String() != want {
			t.Errorf("PORT=%s: %v, %q", port, err, stderr)
		}
	}
}

func TestSigtermEndsItAtOnce(t *testing.T) {
	port := freePort(t)
	command, stderr := program("PORT=" + port)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	url := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if response, err := http.Get(url + "/hello"); err == nil {
			response.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			_ = command.Process.Kill()
			t.Fatalf("does not answer: %s", stderr)
		}
	}
	waiting := make(chan error, 1)
	go func() {
		response, err := http.Get(url + "/delay?ms=60000")
		if err == nil {
			response.Body.Close()
		}
		waiting <- err
	}()
	eventually(t, url, `{"calls_total":1,"asked_ms_total":60000,"in_flight":1,"in_flight_peak":1}`)

	began := time.Now()
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v to end", took)
	}
	if <-waiting == nil {
		t.Error("the call in flight got an answer")
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}
