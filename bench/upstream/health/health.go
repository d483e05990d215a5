// Command health is the container's health check: the image has no shell and no curl. It asks the upstream beside
// it for /hello.
package main

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

const limit = 3 * time.Second

func main() {
	os.Exit(check("http://127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "9000")+"/hello", os.Stderr))
}

// check returns the exit code: 0 it answers, 1 not.
func check(url string, stderr io.Writer) int {
	client := http.Client{Timeout: limit}
	answer, err := client.Get(url)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		fmt.Fprintln(stderr, answer.Status)
		return 1
	}
	return 0
}
