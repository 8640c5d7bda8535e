package sessionstore

import "github.com/amplifier-go/sessionstorage/internal/turns"

// userCount is how many messages of a cached transcript a person wrote. The
// zero userCount is one that nobody has asked for yet: a transcript that is
// only read is not counted.
type userCount struct {
	known bool
	n     int
}

// plus returns the count of the transcript with rows at its end.
func (c userCount) plus(rows []Message) userCount {
	if c.known {
		c.n += countUsers(rows)
	}
	return c
}

// countUsers returns how many of rows a person wrote.
func countUsers(rows []Message) (n int) {
	for _, m := range rows {
		if m.realUser() {
			n++
		}
	}
	return n
}

// realUser reports whether a person wrote the message; see [turns.ReadUser].
func (m Message) realUser() bool {
	if m.m == nil || m.m.places.role != userRole {
		return false
	}
	return turns.ReadUser(m.from("content"), m.from("tool_call_id") != nil, nil).Real
}
