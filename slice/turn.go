package slice

import (
	"fmt"
	"iter"

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
		for i, m := range msgs {
			if m.Role() != "user" {
				continue
			}
			if !readUser(m).begins {
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
	return m.Role() == "user" && readUser(m).speaks
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

// findTurn returns one turn. Where it is not there, count is how many there
// are; else what follows the turn is not looked at.
func findTurn(msgs []sessionstore.Message, turn int) (found Turn, count int, ok bool) {
	for t := range Turns(msgs) {
		count++
		if count == turn {
			return t, count, true
		}
	}
	return Turn{}, count, false
}

// endOf returns the index behind a turn.
func endOf(msgs []sessionstore.Message, turn int) (int, error) {
	if turn < 1 {
		return 0, textError(fmt.Sprintf("Turn must be >= 1, got %d", turn))
	}
	found, count, ok := findTurn(msgs, turn)
	switch {
	case count == 0:
		return 0, textError("No user messages found in conversation")
	case !ok:
		return 0, textError(fmt.Sprintf("Turn %d exceeds max turns (%d). Valid range: 1-%d", turn, count, count))
	}
	return found.End, nil
}

// textError is an error in the reference's words.
type textError string

func (e textError) Error() string { return string(e) }
