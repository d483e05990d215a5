// Command health is the container's health check: the image has no shell and no curl. It asks the service beside it
// whether it is ready (C2).
package main

import (
	"cmp"
	"errors"
	"log"
	"net/http"
	"os"
	"time"
)

func main() {
	if err := check("http://127.0.0.1:" + cmp.Or(os.Getenv("PORT"), "8080") + "/readyz"); err != nil {
		log.Fatal(err) // exit code 1
	}
}

func check(url string) error {
	client := http.Client{Timeout: 3 * time.Second} // C2: an answer within 2 s
	answer, err := client.Get(url)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return err
}
