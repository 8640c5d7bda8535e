package slice

import (
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// LastTimestamp returns the last time in a turn, as the text in the message: its
// timestamp, ts, or metadata.timestamp. It returns "" when the turn has no time.
// Values that are no strings count as missing. It fails, with the text of the
// reference, when there is no such turn.
func LastTimestamp(msgs []sessionstore.Message, turn int) (string, error) {
	t, count := turnAt(msgs, turn)
	switch {
	case count == 0:
		return "", textError("No user messages found in transcript")
	case turn < 1 || turn > count:
		return "", textError(fmt.Sprintf("Turn %d out of range (1-%d)", turn, count))
	}
	for i := t.End - 1; i >= t.Start; i-- {
		if text := timestampOf(msgs[i]); text != "" {
			return text, nil
		}
	}
	return "", nil
}

func timestampOf(m sessionstore.Message) string {
	found := turns.Members(m.AppendTo(nil), "timestamp", "ts", "metadata")
	for _, raw := range [][]byte{found[0], found[1], turns.Members(found[2], "timestamp")[0]} {
		if pyjson.KindOf(raw) == pyjson.String {
			if text := pyjson.Text(raw); text != "" {
				return text
			}
		}
	}
	return ""
}

// lastTime returns the last time in msgs that can be read, and false if there is
// none.
func lastTime(msgs []sessionstore.Message) (time.Time, bool) {
	for i := len(msgs) - 1; i >= 0; i-- {
		if at, ok := msgs[i].Timestamp(); ok {
			return at, true
		}
	}
	return time.Time{}, false
}

// cutBetween returns the time at which a rewind cuts the log: the last time of
// the messages that are left, or, if these have no time, one nanosecond before
// the first time of all messages. It returns false if no message has a time.
func cutBetween(left, all []sessionstore.Message) (time.Time, bool) {
	if at, ok := lastTime(left); ok {
		return at, true
	}
	for _, m := range all {
		if at, ok := m.Timestamp(); ok {
			return at.Add(-1), true
		}
	}
	return time.Time{}, false
}
