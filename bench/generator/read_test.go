package main

import (
	"bytes"
	"encoding/json"
	"math"
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
	if before.Memory.WaitedS == nil || *before.Memory.WaitedS < 0 {
		t.Errorf("waiting is %v", before.Memory.WaitedS)
	}
	if after.Memory != nil {
		t.Error("memory is told though nobody asked")
	}
	if after.BusyS <= 0 || after.AtS <= before.AtS {
		t.Errorf("the machine is told by %+v", after)
	}
}

func TestAMachineIsBusyWhereItIsNotIdle(t *testing.T) {
	all := reader{proc: t.TempDir()}
	// user nice system idle iowait irq softirq steal, in hundredths of a second; ticks saw no user at all.
	stat := "cpu  0 0 0 15000 400 300 200 100 0 0\ncpu0 0 0 0 8000 300 200 100 60 0 0\ncpu1 0 0 0 7000 100 100 100 40 0 0\nintr 1 2 3 4 5 6 7 8 9\n"
	if err := os.WriteFile(filepath.Join(all.proc, "stat"), []byte(stat), 0o644); err != nil {
		t.Fatal(err)
	}
	if busy, steal := all.machine(100); math.Abs(busy-40) > 1e-9 || math.Abs(steal-1) > 1e-9 {
		t.Errorf("busy for %v s and stolen for %v s are told, it was 40 and 1", busy, steal)
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

func TestHowLongThreadsWaited(t *testing.T) {
	all := reader{proc: t.TempDir()}
	if told := all.waited([]int{7}); told != nil {
		t.Errorf("%v s are told, and there is no thread", *told)
	}
	for thread, text := range map[string]string{"7": "5000000000 1500000000 9\n", "8": "1 500000000 2\n"} {
		folder := filepath.Join(all.proc, "7", "task", thread)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "schedstat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if told := all.waited([]int{7, 9}); told == nil || *told != 2 {
		t.Errorf("told %v, both threads waited for 2 s", told)
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
