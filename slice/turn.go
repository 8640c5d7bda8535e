package slice

import (
	"fmt"
	"iter"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Turn is a turn of a conversation: the messages from Start up to End, which
// is not part of it.
type Turn struct{ Start, End int }

// Turns returns the turns of a conversation in order. Every user message begins
// one, also one that a tool wrote in the user's name (see [IsRealUser]), but
// not one that holds a tool_result. Messages before the first turn belong to
// none.
func Turns(msgs []sessionstore.Message) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		start := -1
		var buf []byte
		for i, m := range msgs {
			if m.Role() != "user" {
				continue
			}
			if buf = m.AppendTo(buf[:0]); !readUser(buf).begins {
				continue
			}
			if start >= 0 && !yield(Turn{start, i}) {
				return
			}
			start = i
		}
		if start >= 0 {
			yield(Turn{start, len(msgs)})
		}
	}
}

// CountTurns returns the number of turns.
func CountTurns(msgs []sessionstore.Message) (n int) {
	for range Turns(msgs) {
		n++
	}
	return n
}

// IsRealUser reports whether a person wrote the message: its role is user, it
// has no tool_call_id, no text of it begins with <system-reminder>, and it is
// more than results of tools.
func IsRealUser(m sessionstore.Message) bool {
	return m.Role() == "user" && readUser(m.AppendTo(nil)).speaks
}

// turnAt returns one turn and how many there are.
func turnAt(msgs []sessionstore.Message, turn int) (found Turn, count int) {
	for t := range Turns(msgs) {
		count++
		if count == turn {
			found = t
		}
	}
	return found, count
}

// startsOf returns where the turns begin.
func startsOf(rows []row) (starts []int) {
	for i, r := range rows {
		if r.begins {
			starts = append(starts, i)
		}
	}
	return starts
}

// endOf returns the index behind a turn.
func endOf(rows []row, turn int) (int, error) {
	starts := startsOf(rows)
	switch count := len(starts); {
	case turn < 1:
		return 0, textError(fmt.Sprintf("Turn must be >= 1, got %d", turn))
	case count == 0:
		return 0, textError("No user messages found in conversation")
	case turn > count:
		return 0, textError(fmt.Sprintf("Turn %d exceeds max turns (%d). Valid range: 1-%d", turn, count, count))
	case turn == count:
		return len(rows), nil
	}
	return starts[turn], nil
}

// textError is an error in the reference's words.
type textError string

func (e textError) Error() string { return string(e) }

// Window returns the last turns of a conversation, at most maxTurns of them,
// and more where a result would be parted from its call. With so few turns it is
// the whole conversation, else messages before the first turn are left out. It shares the memory of msgs.
func Window(msgs []sessionstore.Message, maxTurns int) []sessionstore.Message {
	rows := readRows(msgs)
	starts := startsOf(rows)
	switch {
	case maxTurns <= 0:
		return nil
	case len(starts) <= maxTurns:
		return slices.Clip(msgs)
	}
	parts := partedBefore(rows)
	for n := len(starts) - maxTurns; n >= 0; n-- {
		if parts[starts[n]] == 0 {
			return slices.Clip(msgs[starts[n]:])
		}
	}
	return slices.Clip(msgs)
}

// partedBefore returns for every index how many results from there on answer
// calls before it.
func partedBefore(rows []row) []int {
	parts := make([]int, len(rows)+1)
	last := map[string]int{}
	for i, r := range rows {
		for _, id := range r.results {
			if at, ok := last[id]; ok {
				parts[at+1]++
				parts[i+1]--
			}
		}
		for _, c := range r.calls {
			if c.named {
				last[c.id] = i
			}
		}
	}
	for i := 1; i < len(parts); i++ {
		parts[i] += parts[i-1]
	}
	return parts
}
