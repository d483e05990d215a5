package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestReaderTellsWhatOtherProcessesUse(t *testing.T) {
	all := reader{proc: "/proc", own: 0, used: map[int]float64{}} // the test itself is one of them
	before := all.use(true)
	for began, state := time.Now(), uint64(1); time.Since(began) < 50*time.Millisecond; {
		state = registers(state)
	}
	after := all.use(false)
	if used := after.CPUS - before.CPUS; used < 0.02 {
		t.Errorf("%v s of CPU are told for a loop of 0.05 s", used)
	}
	if before.Memory == nil || before.Memory.PSSMiB <= 0 || before.Memory.Threads < 1 {
		t.Errorf("memory is %+v", before.Memory)
	}
	if after.Memory != nil {
		t.Error("memory is told though nobody asked")
	}
	if after.BusyS <= 0 || after.AtS <= before.AtS {
		t.Errorf("the machine is told by %+v", after)
	}
}

func TestWhatAnEndedProcessHasUsedStays(t *testing.T) {
	all := reader{proc: t.TempDir(), used: map[int]float64{7: 1.5}}
	if told := all.use(false).CPUS; told != 1.5 {
		t.Errorf("%v s are told, 1.5 were used", told)
	}
	own := os.Getpid()
	if err := os.Mkdir(filepath.Join(all.proc, strconv.Itoa(own)), 0o755); err != nil {
		t.Fatal(err)
	}
	all.used[own] = 1e6 // another process had its number before
	if told := all.use(false).CPUS; told < 1e6+1.5 {
		t.Errorf("%v s are told, 1000001.5 were used by processes that have ended", told)
	}
}

func TestCountersOfTCP(t *testing.T) {
	known := countersOf("Ip: A\nIp: 1\nTcp: RetransSegs MaxConn OutSegs\nTcp: 3 -1 7\n")
	if known["RetransSegs"] != 3 || known["OutSegs"] != 7 || known["A"] != 0 {
		t.Errorf("found %v", known)
	}
}

func TestReadingEndsWhenItIsAskedTo(t *testing.T) {
	stop := make(chan os.Signal, 1)
	stop <- syscall.SIGTERM
	var out bytes.Buffer
	read(&out, time.Hour, 0, stop)
	var told Use
	if err := json.Unmarshal(out.Bytes(), &told); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestArgumentsOfAReader(t *testing.T) {
	for _, words := range [][]string{{}, {"1"}, {"0", "1"}, {"-1", "1"}, {"x", "1"}, {"1", "1", "8081"}} {
		if _, err := numbers(words); err == nil {
			t.Errorf("%v is taken", words)
		}
	}
	if found, err := numbers([]string{"100", "0", "8081", "8080"}); err != nil || len(found) != 4 || found[3] != 8080 {
		t.Errorf("%v %v", found, err)
	}
}
