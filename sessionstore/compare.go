package sessionstore

import (
	"bytes"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// rowsBeyond returns the messages that whole, those of a damaged file, goes on with
// after rows. There are none when it does not begin with rows.
func rowsBeyond(whole, rows []Message) []Message {
	if len(whole) < len(rows) || !slices.EqualFunc(whole[:len(rows)], rows, sameValue) {
		return nil
	}
	var more []Message
	for _, m := range whole[len(rows):] {
		if m.isObject() { // a piece of a torn line may be another value
			more = append(more, m)
		}
	}
	return more
}

func (m Message) isObject() bool { return pyjson.KindOf(m.m.value()) == pyjson.Object }

// sameValue reports whether two messages are the same, however they are
// written.
func sameValue(a, b Message) bool {
	return a == b || bytes.Equal(a.m.raw, b.m.raw) || bytes.Equal(canonical(a), canonical(b))
}

// canonical returns the message without the white space and the escapes that
// it may have been written with.
func canonical(m Message) []byte {
	text, err := pyjson.Append(nil, m.m.value(), pyjson.Style{})
	if err != nil {
		return m.m.value()
	}
	return text
}
