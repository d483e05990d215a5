// Generator drives one HTTP service and checks every answer: with a fixed number of connections, one request at a time on each; or with
// users who come at a fixed rate (see Open).
//
// It exists because a cost is measured on a full core: k6 needs 40 µs of CPU for a request, which many services need less of.
// This one needs about 5 µs. It reads the service's CPU clock and its own count of answers at the same moment, so that no other
// process has to hit the edge of a window.
//
//	generator ORDER.json > readings.jsonl
//	generator witness                       how fast this core is now (see Speed)
//	generator compete                       uses all CPU time that it gets, until it is ended
//	generator read EVERY_MS MEMORY_EVERY_MS [FROM TO]
//	                                        what the other processes of its pod use (see Use), until it is ended; and port FROM leads to TO
//
// One line of JSON per reading (see Reading), the first when all connections are open, the last when the time is over, or SIGTERM has come,
// and all answers are in; one more at once whenever SIGUSR1 comes; of an open load one line when it is over (see Tally).
// Exit code 0; 1 where the service gave a wrong answer or went away (the last line says which); 2 for a wrong order.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 || (len(os.Args) > 2 && os.Args[1] != "read") {
		fmt.Fprintln(os.Stderr, "usage: generator ORDER.json | generator witness | generator compete | "+readUsage)
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "read":
		var asked []int
		if asked, err = numbers(os.Args[2:]); err == nil && len(asked) == 4 {
			err = relay(asked[2], asked[3])
		}
		if err == nil {
			stop := make(chan os.Signal, 1)
			signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
			read(os.Stdout, time.Duration(asked[0])*time.Millisecond, time.Duration(asked[1])*time.Millisecond, stop)
		}
	case "witness":
		err = json.NewEncoder(os.Stdout).Encode(witness())
	case "compete":
		compete()
	default:
		var text []byte
		if text, err = os.ReadFile(os.Args[1]); err == nil {
			err = run(text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generator:", err)
		os.Exit(2)
	}
}

func run(text []byte) error {
	order, err := parseOrder(text)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // all buffers are made before the first request
	if order.Open != nil {
		return runOpen(order)
	}
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	load, err := newLoad(order)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM) // the window has closed, before the order's time is over
	go func() {
		<-stop
		load.stopped.Store(true)
	}()
	look := make(chan os.Signal, 1)
	signal.Notify(look, syscall.SIGUSR1) // something happens now
	go func() {
		for range look {
			load.asked.Store(true)
		}
	}()
	failed := load.run(func(reading Reading) {
		_ = encoder.Encode(reading)
		_ = out.Flush()
	})
	if failed {
		os.Exit(1)
	}
	return nil
}

func runOpen(order Order) error {
	flow, err := newFlow(order)
	if err != nil {
		return err
	}
	tally, err := flow.run()
	if err != nil {
		return err
	}
	_ = json.NewEncoder(os.Stdout).Encode(tally)
	if tally.Wrong != "" {
		os.Exit(1)
	}
	return nil
}

// compete keeps a core busy with a loop in registers: it takes its share of the time and nothing of the caches.
// Without it a service that waits for its database would leave the core idle, and pay for being woken with each answer.
func compete() {
	for state := uint64(1); ; {
		state = registers(state)
	}
}
