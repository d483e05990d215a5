// Command holder opens connections to a service, level by level, and keeps them open: each asks for a stream of events and reads what comes.
//
// k6 keeps an answer until it is whole, and a stream of events never is; and ten thousand of its users would cost more than what is measured.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	os.Exit(run(os.Getenv("NSB_HOLD"), os.Stderr))
}

// run returns the exit code: 0 held until the end (whatever became of the connections), 1 the report could not be written, 2 a wrong order.
func run(order string, stderr io.Writer) int {
	var what Order
	if err := json.Unmarshal([]byte(order), &what); err != nil {
		fmt.Fprintln(stderr, "NSB_HOLD is not an order:", err)
		return 2
	}
	if err := what.check(); err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if err := write(what.Report, hold(what)); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// write makes the report appear whole or not at all.
func write(path string, report Report) error {
	text, err := json.Marshal(report)
	if err != nil {
		return err
	}
	unfinished, err := os.CreateTemp(filepath.Dir(path), ".report")
	if err != nil {
		return err
	}
	defer os.Remove(unfinished.Name())
	if _, err := unfinished.Write(text); err != nil {
		return err
	}
	if err := unfinished.Close(); err != nil {
		return err
	}
	return os.Rename(unfinished.Name(), path)
}
