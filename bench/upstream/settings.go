package main

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
)

var wholeNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// readAddress takes HOST (127.0.0.1) and PORT (9000, 1–65535) from the environment; an empty variable is not set.
func readAddress(getenv func(string) string) (string, error) {
	host, port := getenv("HOST"), getenv("PORT")
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "9000" // where UPSTREAM_URL points by default
	}
	number, err := strconv.Atoi(port)
	if err != nil || !wholeNumber.MatchString(port) || number < 1 || number > 65535 {
		return "", fmt.Errorf("PORT=%q is not a whole number from 1 to 65535", port)
	}
	return net.JoinHostPort(host, port), nil
}
