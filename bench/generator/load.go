package main

import (
	"fmt"
	"net/netip"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	bufferBytes = 16 << 10
	// endWait is how long the requests under way at the end may take.
	endWait = 10 * time.Second
	// sampleEvery is how long it is from one of the moments of a mean to the next.
	sampleEvery = 10 * time.Millisecond
	// wrongShown is how much of a wrong answer is quoted.
	wrongShown = 600
)

// Reading is what was counted up to a moment. Counts are since the start.
type Reading struct {
	// AtS is the moment, in seconds since the epoch.
	AtS float64 `json:"at_s"`
	// Answers that were right.
	Answers uint64 `json:"answers"`
	// ServiceCPUS is CPU time of the service's processes, read at the same moment (s).
	ServiceCPUS float64 `json:"service_cpu_s"`
	// MeanAnswers and MeanServiceCPUS are the means of both counts since the reading before, over moments sampleEvery apart. An event loop
	// with hundreds of connections answers them all at once, a few times a second: which batches lie between two single moments is chance.
	MeanAnswers     float64 `json:"mean_answers"`
	MeanServiceCPUS float64 `json:"mean_service_cpu_s"`
	// GeneratorCPUS is this program's own (s).
	GeneratorCPUS float64 `json:"generator_cpu_s"`
	// Opened is the number of connections that were opened, those that the service closed and that were opened again included.
	Opened int `json:"opened"`
	// LatencySumS is the time of all right answers together, from the request's sending (s): ÷ Answers it is their mean.
	LatencySumS float64 `json:"latency_sum_s"`
	// LeastLatencyS is the time of the quickest of them; 0 before the first.
	LeastLatencyS float64 `json:"least_latency_s"`
	// AnswersOf is Answers by target, in the order's order.
	AnswersOf []uint64 `json:"answers_of"`
	// Odd answers were right too: those to the last request of each connection (see askOdd). They are in no other count.
	Odd uint64 `json:"odd"`
	// Wrong says what went wrong, with request and answer quoted; empty where nothing did. It ends the load.
	Wrong string `json:"wrong,omitempty"`
}

// target is a Target as it is sent, and how often it was sent (by a flow) and answered rightly.
type target struct {
	Target
	head, send, body template
	odd              template
	sent, answers    uint64
}

// nothing is what must be answered where nothing is (C31).
var nothing = target{Target: Target{Status: 404, Body: `{"type":"about:blank","title":"Not Found","status":404,"detail":"nothing is here"}`}}

type connection struct {
	fd       int
	target   *target
	request  []byte
	expected []byte
	buffer   []byte
	got      int
	sent     time.Duration
	waiting  bool
	user     int  // of a flow
	asked    bool // whether the request of a flow's user could be sent
	odd      bool // whether its last request has been sent
}

// rest is a connection between an answer and its next request.
type rest struct {
	number int
	until  time.Duration
}

// load is one running order.
type load struct {
	order       Order
	address     syscall.SockaddrInet4
	targets     []target
	weights     uint64 // of all targets together
	connections []connection
	events      []syscall.EpollEvent
	epoll       int
	random      uint64
	answers     uint64
	odd         uint64
	opened      int
	latency     time.Duration
	least       time.Duration
	wrong       string
	stopped     atomic.Bool // nothing more is asked; what is under way is awaited
	asked       atomic.Bool // for a reading in between
	began       time.Time
	underWay    int
	ending      bool
	clocks      []int
	used        []float64 // by each clock, as last read (s)
	samples     int       // since the last reading, and their sums
	answersSum  float64
	serviceSum  float64
	resting     []rest // in the order of their ends: all rest equally long
	awake       int    // resting[:awake] have been asked again
}

// prepared is an order of which nothing has been sent.
func prepared(order Order) (*load, error) {
	at := netip.MustParseAddrPort(order.Address)
	found := &load{order: order, random: order.Seed | 1, began: time.Now()}
	found.address = syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	for _, each := range order.Targets {
		head := each.Method + " " + each.Path + " HTTP/1.1\r\nHost: " + order.Address + "\r\n"
		if each.Send != "" {
			head += "Content-Type: application/json\r\n"
		}
		odd := "GET " + elsewhere(each.Path) + " HTTP/1.1\r\nHost: " + order.Address + "\r\n\r\n"
		found.targets = append(found.targets, target{
			Target: each, head: parseTemplate(head), send: parseTemplate(each.Send), body: parseTemplate(each.Body), odd: parseTemplate(odd),
		})
		found.weights += uint64(each.Weight)
	}
	for _, pid := range order.PIDs {
		clock := (^pid << 3) | 2 // clock_getcpuclockid(3): the scheduler's own sum, threads that have ended included
		if _, err := clockSeconds(clock); err != nil {
			return nil, fmt.Errorf("pids: the CPU clock of process %d cannot be read: %w", pid, err)
		}
		found.clocks = append(found.clocks, clock)
	}
	found.used = make([]float64, len(found.clocks))
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	found.epoll = epoll
	found.events = make([]syscall.EpollEvent, 256)
	found.connections = make([]connection, order.Connections)
	return found, nil
}

func newLoad(order Order) (*load, error) {
	found, err := prepared(order)
	if err != nil {
		return nil, err
	}
	for number := range found.connections {
		found.connections[number].room()
		if err := found.open(number); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (l *load) open(number int) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	if err := syscall.Connect(fd, &l.address); err != nil { // to loopback: done at once or refused
		return fmt.Errorf("%s does not accept connection %d: %w", l.order.Address, number+1, err)
	}
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(number)}
	if err := syscall.EpollCtl(l.epoll, syscall.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("epoll: %w", err)
	}
	l.connections[number].fd = fd
	l.connections[number].got = 0
	l.opened++
	return nil
}

// next is xorshift64* (Vigna, 2016).
func (l *load) next() uint64 {
	l.random ^= l.random >> 12
	l.random ^= l.random << 25
	l.random ^= l.random >> 27
	return l.random * 2685821657736338717
}

// draw is one of the targets, each as often as its weight says.
func (l *load) draw() *target {
	if len(l.targets) > 1 {
		at := l.next() >> 11 % l.weights
		for number := range l.targets {
			if weight := uint64(l.targets[number].Weight); at < weight {
				return &l.targets[number]
			} else {
				at -= weight
			}
		}
	}
	return &l.targets[0]
}

// elsewhere is a path like this one, and as long, where nothing is: /iello for /hello.
func elsewhere(path string) string {
	if len(path) < 2 {
		return path + "nowhere"
	}
	return path[:1] + string(rune(path[1]+1)) + path[2:]
}

// compose draws the next request of a connection, and what must be answered.
func (l *load) compose(c *connection) {
	asked := l.draw()
	var id, nonce uint64
	if asked.IDs > 0 {
		id = l.next()>>11%uint64(asked.IDs) + 1
	}
	nonce = 1_000_000_000 + l.next()>>11%9_000_000_000
	c.request = asked.head.fill(c.request[:0], id, nonce)
	if asked.Send != "" {
		body := asked.send.fill(c.expected[:0], id, nonce) // this buffer is free until the answer is expected
		c.request = append(c.request, "Content-Length: "...)
		c.request = strconv.AppendInt(c.request, int64(len(body)), 10)
		c.request = append(c.request, headEnd...)
		c.request = append(c.request, body...)
	} else {
		c.request = append(c.request, '\r', '\n')
	}
	c.expected = asked.body.fill(c.expected[:0], id, nonce)
	c.target, c.got = asked, 0
}

// ask sends the next request on a connection.
func (l *load) ask(number int, now time.Duration) {
	l.compose(&l.connections[number])
	l.send(number, now)
}

// askOdd sends the last request of a connection, when the time is over: it is like the others, and nothing is there.
// So whoever answers without reading what is asked is found, and no figure contains what that takes.
func (l *load) askOdd(number int, now time.Duration) {
	c := &l.connections[number]
	c.request = c.target.odd.fill(c.request[:0], 1, 1_000_000_000)
	c.expected = append(c.expected[:0], nothing.Body...)
	c.target, c.got, c.odd = &nothing, 0, true
	l.send(number, now)
}

func (l *load) send(number int, now time.Duration) {
	c := &l.connections[number]
	c.sent, c.waiting = now, true
	l.underWay++
	switch errno := c.write(); errno {
	case 0:
	case syscall.EPIPE, syscall.ECONNRESET:
		l.fail(fmt.Sprintf("the service closed a connection before %q could be sent (%v)", c.request, errno))
	default:
		l.fail(fmt.Sprintf("%q was sent in part only (%v)", c.request, errno))
	}
}

// room makes a connection's buffers, once.
func (c *connection) room() {
	if c.buffer == nil {
		c.buffer, c.request, c.expected = make([]byte, bufferBytes), make([]byte, 0, 1024), make([]byte, 0, 1024)
	}
}

func (c *connection) write() syscall.Errno {
	wrote, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(c.fd), uintptr(unsafe.Pointer(&c.request[0])), uintptr(len(c.request)))
	if errno == 0 && int(wrote) != len(c.request) { // a request is far smaller than a socket's buffer
		return syscall.EMSGSIZE
	}
	return errno
}

// read adds what has come to the buffer; how much that was.
func (c *connection) read() (int, syscall.Errno) {
	read, _, errno := syscall.RawSyscall(syscall.SYS_READ, uintptr(c.fd), uintptr(unsafe.Pointer(unsafe.SliceData(c.buffer[c.got:]))), uintptr(len(c.buffer)-c.got))
	if errno == 0 {
		c.got += int(read)
	}
	return int(read), errno
}

// answered is the head of the answer, and whether all of it is there; where no length is told, that is when the head is.
func (c *connection) answered() (head, bool) {
	answer := parseHead(c.buffer[:c.got])
	return answer, answer.end > 0 && c.got >= answer.end+answer.length
}

func (c *connection) right(answer head) bool {
	return answer.status == c.target.Status && answer.length >= 0 && c.got == answer.end+answer.length &&
		(c.target.Body == "" || matches(c.buffer[answer.end:c.got], c.expected))
}

func (c *connection) quoted() string {
	shown := c.buffer[:min(c.got, wrongShown)]
	return fmt.Sprintf("asked %q, expected status %d and body %q, got %q", c.request, c.target.Status, c.expected, shown)
}

func (l *load) fail(why string) {
	if l.wrong == "" {
		l.wrong = why
	}
}

// hear reads what has come on a connection and, where an answer is complete, checks it and sends the next request.
func (l *load) hear(number int, now time.Duration) {
	c := &l.connections[number]
	read, errno := c.read()
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return
	}
	if errno != 0 || read == 0 {
		if c.waiting {
			l.fail(fmt.Sprintf("the service closed the connection without an answer to %q, after %q", c.request, c.buffer[:c.got]))
			return
		}
		_ = syscall.Close(c.fd) // between two requests it may; how often is told (Opened)
		if c.odd {
			return
		}
		if err := l.open(number); err != nil {
			l.fail(err.Error())
		}
		return
	}
	answer, whole := c.answered()
	if !whole && c.got < len(c.buffer) {
		return
	}
	if !c.waiting || !whole || !c.right(answer) {
		l.fail(c.quoted())
		return
	}
	if c.odd {
		l.odd++
		c.waiting = false
		l.underWay--
		return
	}
	l.answers++
	c.target.answers++
	l.latency += now - c.sent
	if l.answers == 1 || now-c.sent < l.least {
		l.least = now - c.sent
	}
	c.waiting = false
	l.underWay--
	if answer.closes {
		_ = syscall.Close(c.fd)
		if err := l.open(number); err != nil {
			l.fail(err.Error())
			return
		}
	}
	if l.ending {
		l.askOdd(number, now)
		return
	}
	if l.order.PauseMS > 0 {
		l.resting = append(l.resting, rest{number, now + time.Duration(l.order.PauseMS)*time.Millisecond})
		return
	}
	l.ask(number, now)
}

// wake sends the next request on the connections that have rested; when the next of them is due.
func (l *load) wake(now time.Duration) (time.Duration, bool) {
	for l.awake < len(l.resting) && !l.ending {
		if next := l.resting[l.awake]; next.until > now {
			return next.until, true
		}
		l.ask(l.resting[l.awake].number, now)
		l.awake++
	}
	if l.awake == len(l.resting) {
		l.resting, l.awake = l.resting[:0], 0
	}
	return 0, false
}

// wait handles what comes until the next event or, at the latest, until the time given (since the beginning).
func (l *load) wait(until time.Duration) {
	if due, any := l.wake(time.Since(l.began)); any && due < until {
		until = due
	}
	events := l.poll(max(0, until-time.Since(l.began)))
	now := time.Since(l.began)
	for _, event := range events {
		l.hear(int(event.Fd), now)
	}
}

// poll is what comes within whole milliseconds.
func (l *load) poll(left time.Duration) []syscall.EpollEvent {
	left = (left + time.Millisecond - 1) / time.Millisecond
	count, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_WAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])), uintptr(len(l.events)), uintptr(left), 0, 0)
	if errno != 0 {
		if errno != syscall.EINTR {
			l.fail(fmt.Sprintf("epoll: %v", errno))
		}
		return nil
	}
	return l.events[:count]
}

// run does what was ordered; whether something went wrong.
func (l *load) run(tell func(Reading)) bool {
	l.began = time.Now()
	for number := range l.connections {
		l.ask(number, time.Since(l.began))
	}
	first := time.Since(l.began)
	every := time.Duration(l.order.EveryMS) * time.Millisecond
	last := first + time.Duration(l.order.DurationMS)*time.Millisecond
	tell(l.reading())
	sampled := first + sampleEvery
	going := func() bool { return l.wrong == "" && !l.stopped.Load() }
	for next := first + every; next <= last && going(); next += every {
		for now := time.Since(l.began); now < next && going(); now = time.Since(l.began) {
			if now >= sampled {
				l.sample()
				sampled = now + sampleEvery
			}
			l.wait(min(next, sampled))
			if l.asked.CompareAndSwap(true, false) {
				tell(l.reading())
			}
		}
		tell(l.reading())
	}
	if l.wrong != "" {
		return true
	}
	l.ending = true
	for until := time.Since(l.began) + endWait; l.underWay > 0 && l.wrong == ""; {
		if time.Since(l.began) > until {
			l.fail(fmt.Sprintf("%d requests had no answer %v after the end", l.underWay, endWait))
			break
		}
		l.wait(until)
	}
	tell(l.reading()) // the one that all answers are in
	return l.wrong != ""
}

// sample adds a moment to the means of the next reading; CPU time of the service's processes at it.
func (l *load) sample() (service float64) {
	for number, clock := range l.clocks {
		if seconds, err := clockSeconds(clock); err == nil { // of one that has ended what it had used when it was seen last
			l.used[number] = seconds
		}
		service += l.used[number]
	}
	l.samples++
	l.answersSum += float64(l.answers)
	l.serviceSum += service
	return service
}

// reading is one of its own moments, too.
func (l *load) reading() Reading {
	found := Reading{Answers: l.answers, Odd: l.odd, Opened: l.opened, LatencySumS: l.latency.Seconds(), LeastLatencyS: l.least.Seconds(), Wrong: l.wrong}
	for number := range l.targets {
		found.AnswersOf = append(found.AnswersOf, l.targets[number].answers)
	}
	found.AtS = float64(time.Now().UnixMicro()) / 1e6
	found.ServiceCPUS = l.sample()
	found.MeanAnswers, found.MeanServiceCPUS = l.answersSum/float64(l.samples), l.serviceSum/float64(l.samples)
	l.samples, l.answersSum, l.serviceSum = 0, 0, 0
	found.GeneratorCPUS, _ = clockSeconds(processClock)
	return found
}

// The kernel's numbers of clocks (clock_gettime(2)): the time since boot, the CPU time of this process and of this thread.
const monotonicClock, processClock, threadClock = 1, 2, 3

func clockSeconds(clock int) (float64, error) {
	var spec syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&spec)), 0)
	if errno != 0 {
		return 0, errno
	}
	return float64(spec.Sec) + float64(spec.Nsec)/1e9, nil
}
