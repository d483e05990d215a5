package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// settings are those of C50, read once and never changed.
type settings struct {
	host, upstreamURL                string
	port, backlog, workers, poolSize int
	acquireTimeout, upstreamTimeout  time.Duration
	database                         *mysql.Config
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
	s.port = read("PORT", 8080, 1, 65535)
	s.workers = read("WORKERS", runtime.GOMAXPROCS(0), 1, 1024) // the runtime has read the cgroup's limit
	s.poolSize = read("DB_POOL_SIZE", 150, s.workers, 10_000)
	s.acquireTimeout = time.Duration(read("DB_ACQUIRE_TIMEOUT_MS", 60_000, 1, 3_600_000)) * time.Millisecond
	s.upstreamTimeout = time.Duration(read("UPSTREAM_TIMEOUT_MS", 70_000, 1, 3_600_000)) * time.Millisecond
	read("SERVER_THREADS", 200, 1, 100_000) // checked only: goroutines need no pool of threads
	s.upstreamURL = cmp.Or(getenv("UPSTREAM_URL"), "http://127.0.0.1:9000")
	if u, wrong := url.Parse(s.upstreamURL); wrong != nil || s.upstreamURL != "http://"+u.Host || !validHost(u, "") {
		refuse("UPSTREAM_URL=%q is not http://host:port", s.upstreamURL[strings.LastIndex(s.upstreamURL, "@")+1:]) // without a password
	}
	if s.database = mysqlConfig(getenv("DATABASE_URL")); s.database == nil {
		refuse("DATABASE_URL is not mysql://user:password@host:port/database") // its value may hold a password anywhere
	}
	text, _ := os.ReadFile("/proc/sys/net/core/somaxconn") // which only Linux has
	somaxconn, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	s.backlog = min(4096, cmp.Or(somaxconn, 4096)) // C62
	return s, err
}

// mysqlConfig is nil where the address is wrong.
func mysqlConfig(address string) *mysql.Config {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "mysql" || u.User.Username() == "" || !validHost(u, "3306") || len(u.Path) < 2 || u.RawQuery != "" {
		return nil
	}
	config := mysql.NewConfig() // asks for utf8mb4 in the handshake; no session commands follow
	config.Addr = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "3306"))
	config.User, config.DBName = u.User.Username(), u.Path[1:]
	config.Passwd, _ = u.User.Password()
	config.Logger = &mysql.NopLogger{} // it would log what it returns
	return config
}

func validHost(u *url.URL, standardPort string) bool {
	_, valid := wholeNumber(cmp.Or(u.Port(), standardPort), 1, 65535)
	return valid && u.Hostname() != ""
}
