package main

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// A known fault, compiled into the Go service by build.sh: a run that does not find it could not have found anything of its size.
//
//	PLANT_CPU    share of CPU to add to what a request costs by itself: 0.5 makes it 1.5 times as dear
//	PLANT_DELAY  how long each request waits before it is handled: 2ms

// block is the number of requests whose cost is made dearer at once, by the last of them.
const block = 64

// turns of spin between two looks at the clock.
const turns = 200

type plant struct {
	share               float64
	delay               time.Duration
	requests            atomic.Int64
	lock                sync.Mutex
	lastCPU, lastBurned int64 // at the last block's end (ns)
}

func newPlant() *plant {
	p := &plant{lastCPU: processCPU()}
	var err error
	if text := os.Getenv("PLANT_CPU"); text != "" {
		if p.share, err = strconv.ParseFloat(text, 64); err != nil {
			panic(fmt.Sprintf("PLANT_CPU=%q is not a number", text))
		}
	}
	if text := os.Getenv("PLANT_DELAY"); text != "" {
		if p.delay, err = time.ParseDuration(text); err != nil {
			panic(fmt.Sprintf("PLANT_DELAY=%q is not a duration", text))
		}
	}
	return p
}

// planted is the middleware that build.sh puts behind the one that counts.
func planted(next http.Handler) http.Handler {
	p := newPlant()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.delay > 0 {
			time.Sleep(p.delay)
		}
		next.ServeHTTP(w, r)
		if p.share > 0 {
			p.burn()
		}
	})
}

// burn spends, once in a block of requests, the share of what they cost by themselves: so the plant is as large on any machine and for any
// endpoint. The thread's own clock says when it is enough.
func (p *plant) burn() {
	if p.requests.Add(1)%block != 0 {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cpu, begun := processCPU(), threadCPU()
	enough := int64(p.share * float64(cpu-p.lastCPU-p.lastBurned))
	for threadCPU()-begun < enough {
		spin(turns)
	}
	p.lastCPU, p.lastBurned = cpu, threadCPU()-begun
}

var sink atomic.Uint64

//go:noinline
func spin(turns int64) {
	x := uint64(turns) | 1
	for range turns {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// threadCPU is what this thread has used so far (ns).
func threadCPU() int64 {
	var now syscall.Timespec
	const threadClock = 3 // CLOCK_THREAD_CPUTIME_ID, clock_gettime(2)
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadClock, uintptr(unsafe.Pointer(&now)), 0); err != 0 {
		panic(err)
	}
	return now.Nano()
}

// processCPU is what the process has used so far (ns).
func processCPU() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return used.Utime.Nano() + used.Stime.Nano()
}
