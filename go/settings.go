package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// settings are those of C50, read once and never changed.
type settings struct {
	host            string
	port            int
	database        *mysql.Config
	poolSize        int
	acquireTimeout  time.Duration
	upstreamURL     string
	upstreamTimeout time.Duration
	workers         int
}

// readSettings reads the environment; its error is the sentence of C42.
func readSettings(getenv func(string) string) (settings, error) {
	env := environment{getenv: getenv}
	s := settings{
		host:            cmp.Or(getenv("HOST"), "127.0.0.1"),
		port:            env.whole("PORT", 8080, 1, 65535),
		database:        env.databaseURL("DATABASE_URL"),
		workers:         env.whole("WORKERS", runtime.GOMAXPROCS(0), 1, 1024), // the runtime has read the cgroup's limit
		acquireTimeout:  env.milliseconds("DB_ACQUIRE_TIMEOUT_MS", 60_000),
		upstreamURL:     env.upstreamURL("UPSTREAM_URL", "http://127.0.0.1:9000"),
		upstreamTimeout: env.milliseconds("UPSTREAM_TIMEOUT_MS", 70_000),
	}
	s.poolSize = env.whole("DB_POOL_SIZE", 150, s.workers, 10_000)
	env.whole("SERVER_THREADS", 200, 1, 100_000) // checked only: goroutines need no pool of threads
	return s, env.err
}

// environment reads variables one after the other and keeps the first mistake.
type environment struct {
	getenv func(string) string
	err    error
}

func (e *environment) wrong(name, value, sentence string, bounds ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("%s=\"%s\" %s", name, value, fmt.Sprintf(sentence, bounds...))
	}
}

func (e *environment) whole(name string, standard, low, high int) int {
	value := cmp.Or(e.getenv(name), strconv.Itoa(standard))
	number, valid := wholeNumber(value, low, high)
	if !valid {
		e.wrong(name, value, "is not a whole number from %d to %d", low, high)
	}
	return number
}

func (e *environment) milliseconds(name string, standard int) time.Duration {
	return time.Duration(e.whole(name, standard, 1, 3_600_000)) * time.Millisecond
}

// databaseURL shows nothing of a wrong value, which may hold a password anywhere.
func (e *environment) databaseURL(name string) *mysql.Config {
	u, err := url.Parse(e.getenv(name))
	if err != nil || u.Scheme != "mysql" || u.User.Username() == "" || !validHost(u, "3306") || len(u.Path) < 2 || u.RawQuery != "" {
		e.wrong(name, "***", "is not mysql://user:password@host:port/database")
		return nil
	}
	config := mysql.NewConfig() // asks for utf8mb4 in the handshake; no session commands follow
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.Net, config.Addr = "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306"))
	config.DBName = u.Path[1:]
	config.Logger = &mysql.NopLogger{} // it would log what it returns
	return config
}

func (e *environment) upstreamURL(name, standard string) string {
	value := cmp.Or(e.getenv(name), standard)
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" || !validHost(u, "") || value != "http://"+u.Host {
		e.wrong(name, value[strings.LastIndex(value, "@")+1:], "is not http://host:port") // without a password
	}
	return value
}

func validHost(u *url.URL, standardPort string) bool {
	_, valid := wholeNumber(cmp.Or(u.Port(), standardPort), 1, 65535)
	return valid && u.Hostname() != ""
}
