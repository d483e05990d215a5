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

// block is the number of requests over which a request's own cost is averaged.
const block = 64

// measured is how many turns are timed at the end of each block: a turn costs more while others use the core's caches.
const measured = 2000

type plant struct {
	share               float64
	delay               time.Duration
	requests            atomic.Int64
	burned, turns       atomic.Int64 // burned: ns so far; turns: what each request spins now
	turnPS              atomic.Int64 // CPU of one turn of spin (ps)
	lock                sync.Mutex
	lastCPU, lastBurned int64 // at the last block's end
}

func newPlant() *plant {
	p := &plant{}
	p.turnPS.Store(int64(1000 * float64(timed(1_000_000)) / 1_000_000))
	p.lastCPU = processCPU()
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

// burn spends the share of what the last block of requests cost by themselves, so that the plant is as large on any machine and for any endpoint.
func (p *plant) burn() {
	turns := p.turns.Load()
	spin(turns)
	p.burned.Add(turns * p.turnPS.Load() / 1000)
	if p.requests.Add(1)%block != 0 {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	cost := timed(measured)
	turnPS := (15*p.turnPS.Load() + 1000*cost/measured) / 16 // a mean over some blocks
	p.turnPS.Store(turnPS)
	cpu, burned := processCPU(), p.burned.Add(cost)
	own := float64((cpu-p.lastCPU)-(burned-p.lastBurned)) / block
	p.lastCPU, p.lastBurned = cpu, burned
	p.turns.Store(int64(max(0, (own*p.share-float64(cost)/block)*1000/float64(turnPS))))
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

// timed is the CPU that so many turns take now (ns).
func timed(turns int64) int64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begun := threadCPU()
	spin(turns)
	return threadCPU() - begun
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
