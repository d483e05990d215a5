package main

import "bytes"

var (
	headEnd       = []byte("\r\n\r\n")
	contentLength = []byte("content-length:")
	closing       = []byte("connection: close")
)

// head is what matters of an answer's head.
type head struct {
	status int
	// length is that of the body; -1 where Content-Length is missing or no number.
	length int
	// end is where the body begins; 0 while the head is not there as a whole.
	end    int
	closes bool
}

// parseHead reads the head of an HTTP/1.1 answer; an answer of another form has status 0.
func parseHead(got []byte) head {
	end := bytes.Index(got, headEnd)
	if end < 0 {
		return head{}
	}
	found := head{length: -1, end: end + len(headEnd)}
	if len(got) >= 12 && string(got[:9]) == "HTTP/1.1 " {
		for _, digit := range got[9:12] {
			if digit < '0' || digit > '9' {
				found.status = 0
				break
			}
			found.status = found.status*10 + int(digit-'0')
		}
	}
	for at := bytes.IndexByte(got[:end+2], '\n') + 1; at < end; {
		next := at + bytes.IndexByte(got[at:end+2], '\n') + 1
		if line := got[at:next]; line[0]|0x20 == 'c' {
			if hasPrefixFold(line, contentLength) {
				found.length = number(line[len(contentLength):])
			} else if hasPrefixFold(line, closing) {
				found.closes = true
			}
		}
		at = next
	}
	return found
}

func hasPrefixFold(line, prefix []byte) bool {
	return len(line) >= len(prefix) && bytes.EqualFold(line[:len(prefix)], prefix)
}

// number reads decimal digits between optional blanks; -1 for anything else.
func number(text []byte) int {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > 9 {
		return -1
	}
	value := 0
	for _, digit := range text {
		if digit < '0' || digit > '9' {
			return -1
		}
		value = value*10 + int(digit-'0')
	}
	return value
}

// matches tells whether a body is the expected one, in which one * stands for one or more characters other than a quote.
func matches(body, expected []byte) bool {
	star := bytes.IndexByte(expected, '*')
	if star < 0 {
		return bytes.Equal(body, expected)
	}
	before, after := expected[:star], expected[star+1:]
	middle := len(body) - len(before) - len(after)
	return middle > 0 && bytes.HasPrefix(body, before) && bytes.HasSuffix(body, after) &&
		bytes.IndexByte(body[len(before):len(before)+middle], '"') < 0
}
