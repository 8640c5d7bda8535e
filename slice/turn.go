package slice

import (
	"fmt"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Turn is a turn of a conversation: the messages from index Start up to, and
// without, index End.
type Turn struct{ Start, End int }

// Turns returns the turns of a conversation in order. Every user message without
// a tool_result begins a turn, even if a tool wrote it in the user's name (see
// [IsRealUser]). Messages before the first turn belong to no turn.
func Turns(msgs []sessionstore.Message) iter.Seq[Turn] {
	return func(yield func(Turn) bool) {
		start := -1
		for i, m := range msgs {
			if m.Role() != "user" {
				continue
			}
			if !readRow(m).Begins {
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
	return m.Role() == "user" && readRow(m).Real
}

// IsPrompt reports whether the message is a prompt of a person by the stricter
// rule of the newest tools, by which events are tied to messages: its role is
// user, it has no tool_call_id, no text of it begins with <system-reminder>, no
// block of it names the call of which it is the result, and metadata.ephemeral,
// by which hosts mark what they put in, is missing or false in Python's sense.
func IsPrompt(m sessionstore.Message) bool {
	return m.Role() == "user" && turns.IsPrompt(core.From(m, "content"), core.From(m, "metadata"), core.From(m, "tool_call_id") != nil)
}

// turnAt returns one turn, and the number of all turns. If there is no such turn
// it returns the zero Turn.
func turnAt(msgs []sessionstore.Message, turn int) (found Turn, count int) {
	for t := range Turns(msgs) {
		count++
		if count == turn {
			found = t
		}
	}
	return found, count
}

// findTurn returns one turn, and does not read what follows it. If there is no
// such turn, ok is false and count is the number of all turns.
func findTurn(msgs []sessionstore.Message, turn int) (found Turn, count int, ok bool) {
	for t := range Turns(msgs) {
		count++
		if count == turn {
			return t, count, true
		}
	}
	return Turn{}, count, false
}

// endOf returns the index behind a turn. The errors have the reference's words.
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
