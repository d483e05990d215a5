package main

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"syscall"
	"time"
	"unsafe"
)

const (
	// sysEpollPwait2 waits for nanoseconds (epoll_wait(2), since Linux 5.11): users who come every 50 µs are not sent in bunches.
	sysEpollPwait2 = 441
	// singleGap is the time from the end of one single user to the coming of the next.
	singleGap = 5 * time.Millisecond
	// quickInTurn single users with a quick answer end the recovery.
	quickInTurn = 3
	nobody      = -1
	// bindAddressNoPort leaves the choice of the port to connect (IP_BIND_ADDRESS_NO_PORT, ip(7)).
	bindAddressNoPort = 24
	sources           = 64
	buckets           = 512
)

// Open is an open load: users come at a fixed rate, whatever the answers do, and one who has no answer in time leaves.
type Open struct {
	// AtS is when the first user comes, in seconds since the epoch; RatePerS how many come in a second.
	AtS      float64 `json:"at_s"`
	RatePerS float64 `json:"rate_per_s"`
	// Counted are the users of the WindowMS between LeadMS and TailMS: they come to, and leave, a service under load.
	LeadMS   int `json:"lead_ms"`
	WindowMS int `json:"window_ms"`
	TailMS   int `json:"tail_ms"`
	// GiveUpMS: a user waits for so long, from the moment of coming.
	GiveUpMS int `json:"give_up_ms"`
	// After the load single users come one after another, until three in a row had an answer within QuickMS, for LimitMS at the most.
	QuickMS float64 `json:"quick_ms"`
	LimitMS int     `json:"limit_ms"`
}

func (o Open) mistake() error {
	switch {
	case o.RatePerS <= 0:
		return fmt.Errorf("open.rate_per_s: %g is not above 0", o.RatePerS)
	case o.WindowMS < 1 || o.LeadMS < 0 || o.TailMS < 0:
		return fmt.Errorf("open.window_ms: %d between %d and %d is no window", o.WindowMS, o.LeadMS, o.TailMS)
	case o.GiveUpMS < 1:
		return fmt.Errorf("open.give_up_ms: %d is less than 1", o.GiveUpMS)
	}
	return nil
}

// Tally is what became of the users: Arrivals = Good + GaveUp + Refused + Reset + all Statuses.
type Tally struct {
	// Arrivals are the users that are counted.
	Arrivals int `json:"arrivals"`
	// Good had the right answer in time; GoodFirst of them came in the first half of the window.
	Good      int `json:"good"`
	GoodFirst int `json:"good_first"`
	// GaveUp had no answer in time; Unsent of them had no connection until then: none was free, or it was not accepted.
	GaveUp int `json:"gave_up"`
	Unsent int `json:"unsent"`
	// Refused and Reset are of connections; Statuses of whole answers with another status.
	Refused  int         `json:"refused"`
	Reset    int         `json:"reset"`
	Statuses map[int]int `json:"statuses"`
	// Queued waited for one of the connections, since as many as there may be were taken.
	Queued int `json:"queued"`
	// Latencies counts Good by bucket (see bucket), from bucket LatencyFrom on: from coming to the answer.
	LatencyFrom int   `json:"latency_from"`
	Latencies   []int `json:"latencies"`
	// LagP99MS and LagMaxMS: how late this program was to see that a user had come.
	LagP99MS float64 `json:"lag_p99_ms"`
	LagMaxMS float64 `json:"lag_max_ms"`
	// Opened is of the whole load, as are requests by target: SentOf, and AnsweredOf with the right answer.
	Opened     int      `json:"opened"`
	MostOpen   int      `json:"most_open"`
	SentOf     []uint64 `json:"sent_of"`
	AnsweredOf []uint64 `json:"answered_of"`
	// BackMS: from the end of the load to the coming of the first of three quick single users; -1: there were none.
	BackMS float64 `json:"back_ms"`
	// Singles are the single users after the load.
	Singles int `json:"singles"`
	// Wrong quotes the first wrong answer; it ended the load.
	Wrong string `json:"wrong,omitempty"`
}

type user struct {
	at   time.Duration // when they come
	on   int32         // the connection; nobody: none yet
	over bool
}

// flow is an open load under way.
type flow struct {
	*load
	users                      []user
	coming                     int // users[:coming] are the load, those behind them single
	opens, closes, ends        time.Duration
	giveUp, quick, limit, back time.Duration
	oldest, seen, held, next   int   // users[:oldest] are over, [:seen] have come, [:held] waited for a connection, [:next] have had their turn
	idle, closed               []int // connections without a user: open, and not
	openNow, inTurn            int
	tally                      Tally
	latencies, lags            [buckets]int
	lagMax                     time.Duration
	broken                     error
}

func newFlow(order Order) (*flow, error) {
	under, err := prepared(order)
	if err != nil {
		return nil, err
	}
	ms := func(count float64) time.Duration { return time.Duration(count * float64(time.Millisecond)) }
	open := order.Open
	f := &flow{load: under, giveUp: ms(float64(open.GiveUpMS)), quick: ms(open.QuickMS), limit: ms(float64(open.LimitMS))}
	f.opens = ms(float64(open.LeadMS))
	f.closes = f.opens + ms(float64(open.WindowMS))
	f.ends = f.closes + ms(float64(open.TailMS))
	f.coming = int(math.Ceil(f.ends.Seconds() * open.RatePerS))
	f.users = make([]user, f.coming, f.coming+1+int(f.limit/singleGap))
	for who := range f.users {
		f.users[who] = user{at: time.Duration(float64(who) / open.RatePerS * float64(time.Second)), on: nobody}
		if f.counted(who) {
			f.tally.Arrivals++
		}
	}
	if f.limit > 0 {
		f.users = append(f.users, user{at: f.ends, on: nobody})
	}
	for number := range f.connections {
		f.connections[number].fd = nobody
		f.closed = append(f.closed, number)
	}
	f.tally.Statuses = map[int]int{}
	return f, nil
}

func (f *flow) counted(who int) bool {
	return who < f.coming && f.users[who].at >= f.opens && f.users[who].at < f.closes
}

// run sends all users. An error is this program's own.
func (f *flow) run() (Tally, error) {
	begins := time.UnixMicro(int64(f.order.Open.AtS * 1e6))
	time.Sleep(time.Until(begins))
	now := time.Now()
	f.began = now.Add(begins.Sub(now)) // by the monotonic clock from here on
	for f.oldest < len(f.users) && f.wrong == "" && f.broken == nil {
		now := time.Since(f.began)
		f.leave(now)
		f.send(now)
		f.await()
	}
	return f.told(), f.broken
}

// leave ends the users who have waited for long enough.
func (f *flow) leave(now time.Duration) {
	for ; f.oldest < len(f.users); f.oldest++ {
		each := f.users[f.oldest]
		if each.over {
			continue
		}
		if each.at+f.giveUp > now {
			return
		}
		if each.on == nobody || !f.connections[each.on].asked {
			f.over(f.oldest, &f.tally.Unsent, false)
		}
		if each.on != nobody {
			f.shut(int(each.on))
		}
		f.over(f.oldest, &f.tally.GaveUp, false)
	}
}

// send gives the users who have come their connections, as long as there are any.
func (f *flow) send(now time.Duration) {
	for ; f.seen < len(f.users) && f.users[f.seen].at <= now; f.seen++ {
		if f.counted(f.seen) {
			lag := now - f.users[f.seen].at
			f.lags[bucket(lag)]++
			f.lagMax = max(f.lagMax, lag)
		}
	}
	for ; f.next < f.seen && f.broken == nil; f.next++ {
		if f.users[f.next].over {
			continue
		}
		if f.next >= f.coming {
			f.hangUp()
		}
		number, free := f.take()
		if !free {
			for f.held = max(f.held, f.next); f.held < f.seen; f.held++ {
				if f.counted(f.held) {
					f.tally.Queued++
				}
			}
			return
		}
		c := &f.connections[number]
		c.room()
		f.compose(c)
		c.user, c.waiting, c.asked = f.next, true, false
		f.users[f.next].on = int32(number)
		if c.fd != nobody || f.connect(number) {
			f.write(number)
		}
	}
}

// hangUp closes the connections without a user: each single user comes on a new one. A loop asks those that it has first, and new ones
// only behind all that waits to be accepted. On an old one a user would be quick while the service still works for users who are gone.
func (f *flow) hangUp() {
	for _, number := range f.idle {
		if f.connections[number].fd != nobody {
			f.shut(number)
		}
	}
}

// take is a connection without a user; an open one where there is one.
func (f *flow) take() (int, bool) {
	from := &f.idle
	if len(*from) == 0 {
		from = &f.closed
	}
	last := len(*from) - 1
	if last < 0 {
		return 0, false
	}
	number := (*from)[last]
	*from = (*from)[:last]
	return number, true
}

// connect begins to open a connection; whether it was not refused at once.
func (f *flow) connect(number int) bool {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		f.broken = fmt.Errorf("socket, with %d open: %w", f.openNow, err)
		return false
	}
	f.connections[number].fd = fd
	f.openNow++
	f.tally.Opened++
	f.tally.MostOpen = max(f.tally.MostOpen, f.openNow)
	_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	if f.address.Addr[0] == 127 { // what a user has left keeps its port until the service has noticed: each address has 28,000
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, bindAddressNoPort, 1)
		_ = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, byte(1 + f.tally.Opened%sources)}})
	}
	err = syscall.Connect(fd, &f.address)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) {
		f.lose(number, err)
		return false
	}
	if err == nil || errors.Is(err, syscall.EINPROGRESS) {
		// Edges: that it is connected, and each time that something has come.
		event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLOUT | -syscall.EPOLLET, Fd: int32(number)}
		err = syscall.EpollCtl(f.epoll, syscall.EPOLL_CTL_ADD, fd, &event)
	}
	if err != nil {
		f.broken = fmt.Errorf("connect, with %d open: %w", f.openNow, err)
	}
	return err == nil
}

// shut closes a connection; its user, if it has one, is to be ended by the caller.
func (f *flow) shut(number int) {
	c := &f.connections[number]
	_ = syscall.Close(c.fd)
	if c.waiting { // else it is among the idle ones, and opened again when its turn comes
		f.closed = append(f.closed, number)
	}
	c.fd, c.waiting = nobody, false
	f.openNow--
}

func (f *flow) write(number int) {
	c := &f.connections[number]
	switch errno := c.write(); errno {
	case 0:
		c.asked = true
		c.target.sent++
	case syscall.EAGAIN: // it is not connected yet
	default:
		f.lose(number, errno)
	}
}

// lose ends a user whose connection was refused, or ended before the answer.
func (f *flow) lose(number int, err error) {
	who := f.connections[number].user
	f.shut(number)
	if errors.Is(err, syscall.ECONNREFUSED) {
		f.over(who, &f.tally.Refused, false)
	} else {
		f.over(who, &f.tally.Reset, false)
	}
}

// over ends a user, and counts them if they are counted.
func (f *flow) over(who int, count *int, quick bool) {
	if f.counted(who) {
		*count++
	}
	if who >= f.coming && !f.users[who].over {
		f.single(who, quick)
	}
	f.users[who].over = true
}

// single is the end of a single user; another one comes unless enough of them were quick.
func (f *flow) single(who int, quick bool) {
	f.tally.Singles++
	if !quick {
		f.inTurn = 0
	} else if f.inTurn++; f.inTurn == 1 {
		f.back = f.users[who].at - f.ends
	}
	if next := time.Since(f.began) + singleGap; f.inTurn < quickInTurn && next < f.ends+f.limit {
		f.users = append(f.users, user{at: next, on: nobody})
	}
}

// await handles what comes until the next user comes or leaves.
func (f *flow) await() {
	until := time.Since(f.began)
	if f.oldest < len(f.users) {
		until = f.users[f.oldest].at + f.giveUp
	}
	if f.next < len(f.users) && len(f.idle)+len(f.closed) > 0 {
		until = min(until, f.users[f.next].at)
	}
	for _, event := range f.finePoll(max(0, until-time.Since(f.began))) {
		number := int(event.Fd)
		switch c := &f.connections[number]; {
		case c.fd == nobody: // it was closed after this had come
		case c.waiting && !c.asked:
			f.write(number)
		default:
			f.hear(number)
		}
	}
}

func (f *flow) finePoll(left time.Duration) []syscall.EpollEvent {
	spec := syscall.NsecToTimespec(left.Nanoseconds())
	count, _, errno := syscall.RawSyscall6(sysEpollPwait2, uintptr(f.epoll), uintptr(unsafe.Pointer(&f.events[0])), uintptr(len(f.events)), uintptr(unsafe.Pointer(&spec)), 0, 0)
	switch errno {
	case 0:
		return f.events[:count]
	case syscall.ENOSYS:
		return f.poll(left)
	case syscall.EINTR:
		return nil
	}
	f.broken = fmt.Errorf("epoll: %w", errno)
	return nil
}

// hear reads what has come on a connection and, where that is a whole answer, ends its user.
func (f *flow) hear(number int) {
	c := &f.connections[number]
	read, errno := c.read()
	if errno == syscall.EAGAIN || errno == syscall.EINTR {
		return
	}
	if errno != 0 || read == 0 {
		if c.waiting {
			f.lose(number, syscall.ECONNRESET)
		} else {
			f.shut(number)
		}
		return
	}
	answer, whole := c.answered()
	switch {
	case !c.waiting || (!whole && c.got == len(c.buffer)):
		f.fail(c.quoted())
		return
	case !whole:
		return
	case answer.status != c.target.Status:
		other := 0
		f.over(c.user, &other, false)
		f.tally.Statuses[answer.status] += other
	case !c.right(answer):
		f.fail(c.quoted())
		return
	default:
		f.good(c.user)
		c.target.answers++
	}
	if answer.closes || answer.length < 0 {
		f.shut(number)
		return
	}
	c.waiting = false
	f.idle = append(f.idle, number)
}

func (f *flow) good(who int) {
	at := f.users[who].at
	took := time.Since(f.began) - at
	if f.counted(who) {
		f.latencies[bucket(took)]++
		if at < (f.opens+f.closes)/2 {
			f.tally.GoodFirst++
		}
	}
	f.over(who, &f.tally.Good, took <= f.quick)
}

func (f *flow) told() Tally {
	found := f.tally
	found.Wrong = f.wrong
	for number := range f.targets {
		found.SentOf = append(found.SentOf, f.targets[number].sent)
		found.AnsweredOf = append(found.AnsweredOf, f.targets[number].answers)
	}
	first, last := buckets, -1
	for number, count := range f.latencies {
		if count > 0 {
			first, last = min(first, number), number
		}
	}
	found.Latencies = []int{}
	if last >= 0 {
		found.LatencyFrom, found.Latencies = first, f.latencies[first:last+1]
	}
	found.LagMaxMS = f.lagMax.Seconds() * 1e3
	all := 0
	for _, count := range f.lags {
		all += count
	}
	for number, below := 0, 0; number < buckets && all > 0; number++ {
		if below += f.lags[number]; below*100 >= all*99 {
			found.LagP99MS = min(lowest(number+1).Seconds()*1e3, found.LagMaxMS)
			break
		}
	}
	found.BackMS = -1
	if f.inTurn == quickInTurn {
		found.BackMS = f.back.Seconds() * 1e3
	}
	return found
}

// bucket is one of a fixed set, so that counts of several loads can be added: below 16 µs one for each, above 16 for each doubling.
func bucket(of time.Duration) int {
	us := uint64(max(0, of) / time.Microsecond)
	shift := max(0, bits.Len64(us)-5)
	return min(shift<<4+int(us>>shift), buckets-1)
}

// lowest is the shortest time of a bucket.
func lowest(number int) time.Duration {
	shift := max(0, number>>4-1)
	return time.Duration(number-shift<<4) << shift * time.Microsecond
}
