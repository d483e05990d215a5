package main

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// settings are those of C50, read once and never changed.
type settings struct {
	host            string
	port            int
	database        databaseAddress
	poolSize        int
	acquireTimeout  time.Duration
	upstreamURL     string
	upstreamTimeout time.Duration
	workers         int
}

type databaseAddress struct{ user, password, address, name string }

// readSettings reads the environment; its error is the sentence of C42.
func readSettings(getenv func(string) string, grantedCPUs int) (settings, error) {
	env := environment{get: getenv}
	s := settings{
		host:            env.text("HOST", "127.0.0.1"),
		port:            env.whole("PORT", 8080, 1, 65535),
		database:        env.databaseURL("DATABASE_URL"),
		workers:         env.whole("WORKERS", grantedCPUs, 1, 1024), // before the pool, which it bounds
		acquireTimeout:  env.milliseconds("DB_ACQUIRE_TIMEOUT_MS", 60_000),
		upstreamURL:     env.upstreamURL("UPSTREAM_URL", "http://127.0.0.1:9000"),
		upstreamTimeout: env.milliseconds("UPSTREAM_TIMEOUT_MS", 70_000),
	}
	s.poolSize = env.whole("DB_POOL_SIZE", 150, max(s.workers, 1), 10_000)
	env.whole("SERVER_THREADS", 200, 1, 100_000) // checked only: goroutines need no pool of threads
	return s, env.err
}

// environment reads variables one after the other and keeps the first mistake.
type environment struct {
	get func(string) string
	err error
}

func (e *environment) wrong(name, value, sentence string, bounds ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%s=\"%s\" "+sentence, append([]any{name, value}, bounds...)...)
	}
}

func (e *environment) text(name, standard string) string {
	if value := e.get(name); value != "" {
		return value
	}
	return standard
}

func (e *environment) whole(name string, standard, low, high int) int {
	value := e.text(name, strconv.Itoa(standard))
	number, ok := wholeNumber(value, low, high)
	if !ok {
		e.wrong(name, value, "is not a whole number from %d to %d", low, high)
	}
	return number
}

func (e *environment) milliseconds(name string, standard int) time.Duration {
	return time.Duration(e.whole(name, standard, 1, 3_600_000)) * time.Millisecond
}

func (e *environment) databaseURL(name string) databaseAddress {
	value := e.get(name)
	if value == "" {
		if e.err == nil {
			e.err = fmt.Errorf("%s must be set: mysql://user:password@host:port/database", name)
		}
		return databaseAddress{}
	}
	u, err := url.Parse(value)
	if err == nil && u.Port() == "" && !strings.HasSuffix(u.Host, ":") {
		u.Host += ":3306"
	}
	if err != nil || u.Scheme != "mysql" || u.User.Username() == "" || !validHost(u) || u.RawQuery != "" || u.Fragment != "" ||
		len(u.Path) < 2 || strings.Contains(u.Path[1:], "/") {
		e.wrong(name, "***", "is not mysql://user:password@host:port/database") // the value may hold a password anywhere
		return databaseAddress{}
	}
	password, _ := u.User.Password()
	return databaseAddress{u.User.Username(), password, net.JoinHostPort(u.Hostname(), u.Port()), u.Path[1:]}
}

func (e *environment) upstreamURL(name, standard string) string {
	value := e.text(name, standard)
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" || !validHost(u) || value != "http://"+u.Host {
		shown := value
		if at := strings.LastIndex(value, "@"); at >= 0 {
			shown = "***" + value[at:]
		}
		e.wrong(name, shown, "is not http://host:port")
	}
	return value
}

func validHost(u *url.URL) bool {
	_, ok := wholeNumber(u.Port(), 1, 65535)
	return ok && u.Hostname() != ""
}
