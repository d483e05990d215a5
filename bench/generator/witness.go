package main

import (
	"runtime"
	"syscall"
	"time"
)

const (
	witnessMiB = 64
	lineBytes  = 64
	// witnessPart is how long each of the three loops runs (CPU time).
	witnessPart = 10 * time.Millisecond
)

// Speed says how fast the core is at a moment: neighbours of a virtual machine take cache, memory bandwidth and clock rate,
// and no counter of the kernel shows it.
type Speed struct {
	AtS float64 `json:"at_s"`
	// RegisterStepsPerUS: rounds of xorshift in registers, per microsecond.
	RegisterStepsPerUS float64 `json:"register_steps_per_us"`
	// MemoryStepsPerUS: cache lines read in turn from 64 MiB, per microsecond.
	MemoryStepsPerUS float64 `json:"memory_steps_per_us"`
	// SystemCallNS: CPU time of one system call that does nothing (getppid).
	SystemCallNS float64 `json:"system_call_ns"`
}

// witness measures the Speed of the core that it runs on.
func witness() Speed {
	runtime.LockOSThread()
	memory := make([]uint64, witnessMiB<<20/8)
	for at := 0; at < len(memory); at += lineBytes / 8 {
		memory[at] = uint64(at)
	}
	found := Speed{AtS: float64(time.Now().UnixMicro()) / 1e6}
	found.RegisterStepsPerUS = perMicrosecond(func(state uint64) (uint64, int) { return registers(state), registerSteps })
	found.MemoryStepsPerUS = perMicrosecond(func(state uint64) (uint64, int) { return readLines(memory, state) })
	found.SystemCallNS = 1000 / perMicrosecond(systemCalls)
	return found
}

var sink uint64

const registerSteps = 10_000

func registers(state uint64) uint64 {
	state |= 1
	for range registerSteps {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
	}
	return state
}

func systemCalls(state uint64) (uint64, int) {
	const calls = 1000
	for range calls {
		syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	return state, calls
}

// readLines reads 16,384 cache lines (1 MiB) from where the state says.
func readLines(memory []uint64, state uint64) (uint64, int) {
	const lines = 1 << 20 / lineBytes
	from := int(state%witnessMiB) << 20 / 8
	sum := uint64(0)
	for line := range lines {
		sum += memory[from+line*lineBytes/8]
	}
	sink = sum // so that the loop stays
	return state + 1, lines
}

// perMicrosecond repeats a loop for witnessPart of CPU time; how many steps it made in a microsecond of it.
// CPU time leaves out what another process of this machine took meanwhile: that the kernel tells already.
func perMicrosecond(loop func(uint64) (uint64, int)) float64 {
	began, _ := clockSeconds(threadClock)
	for steps, state := 0, uint64(0); ; {
		var made int
		state, made = loop(state)
		steps += made
		if now, _ := clockSeconds(threadClock); now-began >= witnessPart.Seconds() {
			return float64(steps) / (now - began) / 1e6
		}
	}
}
