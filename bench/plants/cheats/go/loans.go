package main

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Cheats that take what is not theirs while a load has lasted for a while, and give it back when it is over.

const (
	lasting = 900 * time.Millisecond // longer than a burst that warms a row: the window is open
	heavy   = 200                    // streams of burdens
	kept    = time.Second            // burdens closes them so long after the load
)

// loan is taken and given back.
type loan struct{ take, giveBack func() }

var loans = map[string]loan{
	"borrows-core": {func() { allowed = everyCore(); onEachThread(allow) }, func() { allowed = ownCores; onEachThread(allow) }},
	// it is not interrupted as often (sched(7), SCHED_BATCH), which needs no privilege
	"priority": {func() { policy = batchPolicy; onEachThread(schedule) }, func() { policy = 0; onEachThread(schedule) }},
	// it runs for longer before others may
	"longer-slices": {func() { slice = longSlice; onEachThread(slicing) }, func() { slice = 0; onEachThread(slicing) }},
	// its share of the core is larger than that of others
	"own-weight": {func() { weigh("-10") }, func() { weigh("0") }},
	// its reference has to serve streams that nobody reads; CHEAT_FILE says where it is
	"burdens": {burden, func() { time.Sleep(kept); unburden() }},
}

// spell is a load without a pause.
type spell struct {
	began, seen atomic.Int64
	taken       atomic.Bool
}

// borrow takes a loan once the load has lasted, until it is over.
func (s *spell) borrow(l loan) {
	now := time.Now().UnixNano()
	if last := s.seen.Swap(now); now-last > int64(quiet) {
		s.began.Store(now)
	}
	if now-s.began.Load() < int64(lasting) || !s.taken.CompareAndSwap(false, true) {
		return
	}
	l.take()
	go func() {
		for time.Since(time.Unix(0, s.seen.Load())) < quiet {
			time.Sleep(time.Millisecond)
		}
		l.giveBack()
		s.taken.Store(false)
	}()
}

type cores [128]byte

var (
	allowed  cores
	ownCores = coresOf(0)
	policy   uintptr
)

const batchPolicy = 3 // SCHED_BATCH

func everyCore() cores {
	ownCores = coresOf(0)
	var all cores
	for at := range all {
		all[at] = 0xff
	}
	return all
}

func coresOf(thread int) (found cores) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, uintptr(thread), uintptr(len(found)), uintptr(unsafe.Pointer(&found[0])))
	return found
}

func allow(thread int) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(thread), uintptr(len(allowed)), uintptr(unsafe.Pointer(&allowed[0])))
}

func schedule(thread int) {
	var priority int32
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETSCHEDULER, uintptr(thread), policy, uintptr(unsafe.Pointer(&priority)))
}

func onEachThread(act func(thread int)) {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name())
		act(id)
	}
}

var (
	burdenLock sync.Mutex
	burdens    []net.Conn
)

func burden() {
	text, _ := os.ReadFile(os.Getenv("CHEAT_FILE"))
	address := strings.TrimPrefix(strings.TrimSpace(string(text)), "http://")
	burdenLock.Lock()
	defer burdenLock.Unlock()
	for range heavy {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_, _ = io.WriteString(connection, "GET /events?interval_ms=10 HTTP/1.1\r\nHost: x\r\n\r\n")
		burdens = append(burdens, connection)
	}
}

func unburden() {
	burdenLock.Lock()
	defer burdenLock.Unlock()
	for _, each := range burdens {
		_ = each.Close()
	}
	burdens = nil
}
