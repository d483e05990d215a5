package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Use is what the processes beside the reader have used up to a moment: those of the container whose process namespace it shares. Machine
// and network are as they are seen from there: all cores of the node, and the sockets of the pod.
type Use struct {
	AtS float64 `json:"at_s"`
	// CPUS is their CPU time; what a process has used that has ended stays in it.
	CPUS float64 `json:"cpu_s"`
	// BusyS and StealS: of all cores of the node, since its boot.
	BusyS  float64 `json:"busy_s"`
	StealS float64 `json:"steal_s"`
	// TCP holds the counters of the pod's network namespace; null where the kernel does not tell them.
	TCP map[string]int64 `json:"tcp"`
	// Memory is read less often: null in between, and where it may not be read.
	Memory *Memory `json:"memory"`
}

// Memory of the same processes: proportional set size, so that pages which several of them share count once. And their threads.
type Memory struct {
	PSSMiB  float64 `json:"pss_mib"`
	Threads int     `json:"threads"`
	// WaitedS is how long these threads were ready to run and had no core (s), those that have ended left out; null where it is not told.
	WaitedS *float64 `json:"waited_s"`
}

// ticksPerS is the unit of /proc/stat for programs on every architecture (USER_HZ).
const ticksPerS = 100

var tcpCounters = map[string][]string{
	"net/netstat": {"ListenOverflows", "ListenDrops", "TCPDSACKRecv", "TCPSynRetrans"},
	"net/snmp":    {"RetransSegs", "OutSegs"},
}

type reader struct {
	proc string
	own  int
	// used is the CPU time of each process, as last seen; ended is what those have used whose number another one has now.
	used  map[int]float64
	ended float64
}

// read writes a Use every so often, the memory with the first one and then less often (0: never), until somebody ends it.
func read(to io.Writer, every, memoryEvery time.Duration, stop <-chan os.Signal) {
	all := reader{proc: "/proc", own: os.Getpid(), used: map[int]float64{}}
	encoder := json.NewEncoder(to)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for next := time.Now(); ; {
		now := time.Now()
		withMemory := memoryEvery > 0 && !now.Before(next)
		if withMemory {
			next = now.Add(memoryEvery)
		}
		if encoder.Encode(all.use(withMemory)) != nil {
			return
		}
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
	}
}

func (r *reader) use(withMemory bool) Use {
	found := Use{AtS: float64(time.Now().UnixMicro()) / 1e6}
	processes := r.processes()
	for _, pid := range processes {
		seconds, err := clockSeconds(^pid<<3 | processClock)
		if err != nil {
			continue // it has ended
		}
		if seconds < r.used[pid] {
			r.ended += r.used[pid]
		}
		r.used[pid] = seconds
	}
	found.CPUS = r.ended
	for _, seconds := range r.used {
		found.CPUS += seconds
	}
	now, _ := clockSeconds(monotonicClock)
	found.BusyS, found.StealS = r.machine(now)
	found.TCP = r.tcp()
	if withMemory {
		found.Memory = r.memory(processes)
	}
	return found
}

// processes are all but the reader and the first one, which keeps the pod's namespaces and does nothing.
func (r *reader) processes() []int {
	var found []int
	entries, _ := os.ReadDir(r.proc)
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != 1 && pid != r.own {
			found = append(found, pid)
		}
	}
	return found
}

// machine sums over the cores: busy is what was not idle. Most kernels count user and system by looking at each tick, and who comes as often as
// the ticks is seen always or never; idle time they measure. Interrupts are charged to tasks on some kernels only: left out on all.
func (r *reader) machine(now float64) (busy, steal float64) {
	text, _ := os.ReadFile(filepath.Join(r.proc, "stat"))
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) < 9 || fields[0] == "cpu" || !strings.HasPrefix(fields[0], "cpu") {
			continue // "cpu" is the sum of all
		}
		seconds := func(at int) float64 {
			count, _ := strconv.ParseFloat(fields[at], 64)
			return count / ticksPerS
		}
		busy += now - seconds(4) - seconds(5) - seconds(6) - seconds(7) - seconds(8) // idle, iowait, irq, softirq, steal
		steal += seconds(8)
	}
	return busy, steal
}

func (r *reader) tcp() map[string]int64 {
	found := map[string]int64{}
	for file, names := range tcpCounters {
		text, err := os.ReadFile(filepath.Join(r.proc, file))
		if err != nil {
			return nil
		}
		known := countersOf(string(text))
		for _, name := range names {
			count, told := known[name]
			if !told {
				return nil
			}
			found[name] = count
		}
	}
	return found
}

// countersOf reads the lines of TCP: one with the names, one with the values.
func countersOf(text string) map[string]int64 {
	found, names := map[string]int64{}, map[string][]string{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || (fields[0] != "Tcp:" && fields[0] != "TcpExt:") {
			continue
		}
		before, second := names[fields[0]]
		if !second {
			names[fields[0]] = fields
			continue
		}
		for at := 1; at < min(len(fields), len(before)); at++ {
			if count, err := strconv.ParseInt(fields[at], 10, 64); err == nil {
				found[before[at]] = count
			}
		}
	}
	return found
}

// memory is null where not even one of the processes lets it be read: another user's, for example.
func (r *reader) memory(processes []int) *Memory {
	var found *Memory
	for _, pid := range processes {
		folder := filepath.Join(r.proc, strconv.Itoa(pid))
		rollup, err := os.ReadFile(filepath.Join(folder, "smaps_rollup"))
		if err != nil {
			continue
		}
		status, err := os.ReadFile(filepath.Join(folder, "status"))
		if err != nil {
			continue
		}
		if found == nil {
			found = new(Memory)
		}
		found.PSSMiB += float64(numberAfter(rollup, "\nPss:")) / 1024
		found.Threads += numberAfter(status, "\nThreads:")
	}
	if found != nil {
		found.WaitedS = r.waited(processes)
	}
	return found
}

// waited is null where the kernel does not tell it of any thread (schedstat, second field; ns).
func (r *reader) waited(processes []int) *float64 {
	var found *float64
	for _, pid := range processes {
		files, _ := filepath.Glob(filepath.Join(r.proc, strconv.Itoa(pid), "task", "*", "schedstat"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			fields := strings.Fields(string(text))
			if err != nil || len(fields) < 2 {
				continue // it has ended
			}
			if found == nil {
				found = new(float64)
			}
			waited, _ := strconv.ParseFloat(fields[1], 64)
			*found += waited / 1e9
		}
	}
	return found
}

func numberAfter(text []byte, name string) int {
	_, after, _ := bytes.Cut(text, []byte(name))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	number, _ := strconv.Atoi(string(fields[0]))
	return number
}

const readUsage = "generator read EVERY_MS MEMORY_EVERY_MS [FROM TO]"

// numbers are the arguments of `generator read`.
func numbers(words []string) ([]int, error) {
	if len(words) != 2 && len(words) != 4 {
		return nil, errors.New("usage: " + readUsage)
	}
	var found []int
	for _, word := range words {
		number, err := strconv.Atoi(word)
		if err != nil || number < 0 {
			return nil, fmt.Errorf("%q is no number of milliseconds, and no port", word)
		}
		found = append(found, number)
	}
	if found[0] == 0 {
		return nil, errors.New("EVERY_MS: 0 is less than 1")
	}
	return found, nil
}
