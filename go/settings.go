package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
)

// settings are those of C50, read once and never changed.
type settings struct {
	host, address, upstreamURL      string
	workers, poolSize               int
	acquireTimeout, upstreamTimeout time.Duration
	database                        *mysql.Config
}

// readSettings reads the environment; its error is the first mistake, in the sentence of C42.
func readSettings(getenv func(string) string) (s settings, err error) {
	refuse := func(sentence string, parts ...any) { err = cmp.Or(err, fmt.Errorf(sentence, parts...)) }
	read := func(name string, standard, low, high int) int {
		value := cmp.Or(getenv(name), strconv.Itoa(standard))
		number, valid := wholeNumber(value, low, high)
		if !valid {
			refuse("%s=%q is not a whole number from %d to %d", name, value, low, high)
		}
		return number
	}
	s.host = cmp.Or(getenv("HOST"), "127.0.0.1")
	s.address = net.JoinHostPort(s.host, strconv.Itoa(read("PORT", 8080, 1, 65_535)))
	s.workers = read("WORKERS", runtime.GOMAXPROCS(0), 1, 1024) // the runtime has read the cgroup's limit
	s.poolSize = read("DB_POOL_SIZE", 150, s.workers, 10_000)
	s.acquireTimeout = time.Duration(read("DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, 3_600_000)) * time.Millisecond
	s.upstreamTimeout = time.Duration(read("UPSTREAM_TIMEOUT_MS", 70_000, 1, 3_600_000)) * time.Millisecond
	read("SERVER_THREADS", 200, 1, 100_000) // checked only: goroutines need no pool of threads
	s.upstreamURL = cmp.Or(getenv("UPSTREAM_URL"), "http://127.0.0.1:9000")
	if u, wrong := url.Parse(s.upstreamURL); wrong != nil || u.Port() == "" || s.upstreamURL != "http://"+u.Host {
		refuse("UPSTREAM_URL=%q is not http://host:port", u.Redacted())
	}
	if s.database = mysqlConfig(getenv("DATABASE_URL")); s.database == nil {
		refuse("DATABASE_URL is not mysql://user:password@host:port/database") // its value may hold a password anywhere
	}
	return s, err
}

// mysqlConfig is nil where the address is wrong.
func mysqlConfig(address string) *mysql.Config {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "mysql" || u.User.Username() == "" || u.Hostname() == "" || len(u.Path) < 2 {
		return nil
	}
	config := mysql.NewConfig() // asks for utf8mb4 in the handshake; no session commands follow
	config.Addr = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306"))
	config.User, config.DBName = u.User.Username(), u.Path[1:]
	config.Passwd, _ = u.User.Password()
	config.Timeout = time.Second       // to connect: by default as long as the kernel tries
	config.Logger = &mysql.NopLogger{} // it would log what it returns
	return config
}
