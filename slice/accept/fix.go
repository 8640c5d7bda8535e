package accept

import (
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Fixed is a conversation that was made acceptable, and how.
type Fixed struct {
	Messages   []sessionstore.Message // the accepted messages; messages that were not touched are the same values
	Amendments []Amendment            // in the order of the conversation
}

// Amendment is one change of one message. A result that was moved is dropped
// in one place and inserted in another.
type Amendment struct {
	Kind    AmendKind
	Reasons []Reason             // the refusals that it mends, each once
	Row     int                  // index among the messages that were given; of an inserted one, of the message behind it
	At      int                  // index among the mended messages; of a dropped one, of the message behind it
	Old     sessionstore.Message // zero for an inserted message
	New     sessionstore.Message // zero for a dropped message
}

// AmendKind is a kind of change.
type AmendKind string

// The kinds.
const (
	Replaced AmendKind = "replaced"
	Inserted AmendKind = "inserted"
	Dropped  AmendKind = "dropped"
)

// Fix returns the conversation with the least changed so that the provider accepts it (see
// [Check]). Accepted messages are returned unchanged, and mending twice is mending once.
//
// The least change means: no text and no call is ever taken out, no call is made up, and no
// result given to another call. To replace a message is less than to move one, to insert
// one is more, and to drop one is most:
//
//   - Within a message, thinking that is refused goes, and blocks that are blank,
//     broken, of another role or, but for their text, of a type that no provider
//     takes; an image gets the media type that it has, or gives way to a text that
//     says why, if it is damaged or the provider does not take it (with the Scaler of
//     a [Target] it is made smaller instead); results are put first; names and ids
//     that are not allowed are changed, an id in call and result alike; arguments become the member arguments of an object; half of
//     a surrogate pair becomes U+FFFD; a role that is unknown becomes user; content
//     that would be empty gets a text that says so.
//   - Of images that are too many, or too large together, the oldest give way to
//     such a text, and none of the last turn. A conversation that is too long for
//     the model is not mended.
//   - A result that is not in its place is moved right behind its call; a block
//     that shares its message becomes a message of its own.
//   - A call without a result gets a result that says that none was captured, and that
//     the outcome of the call is unknown: messages do not tell whether it ran. Package
//     sessionstore/turn, which knows, stores a result of its own.
//   - Where sides do not alternate, the missing one gets a message. A user's
//     message is marked as not a person's, but begins a turn (see [Turns]).
//   - Results without a call are dropped, and further results of a call; the
//     one in its place stays. A message of nothing else goes with them.
//
// An empty conversation, and one of which only such results were left, is
// accepted and empty. The error is for an unknown provider, and for messages
// nested so deep that changed they could not be read. It takes linear time.
func Fix(p Provider, msgs []sessionstore.Message) (Fixed, error) {
	return Target{Provider: p}.Fix(msgs)
}

// mending compares the given messages with the mended ones.
func (m *fixer) mending() Fixed {
	out := Fixed{Messages: m.messages()}
	next := 0
	drop := func(until, at int) {
		for ; next < until; next++ {
			out.Amendments = append(out.Amendments, Amendment{Dropped, m.dropReasons[next], next, at, m.given[next], sessionstore.Message{}})
		}
	}
	for at, p := range m.pieces {
		if p.row < 0 || p.moved {
			out.Amendments = append(out.Amendments, Amendment{Inserted, p.why, next, at, sessionstore.Message{}, p.msg})
			continue
		}
		drop(p.row, at)
		if p.changed {
			out.Amendments = append(out.Amendments, Amendment{Replaced, p.why, p.row, at, m.given[p.row], p.msg})
		}
		next++
	}
	drop(len(m.given), len(m.pieces))
	return out
}

// mendRows mends the faults within messages.
func (m *fixer) mendRows() {
	seen := map[string]bool{}
	var buf []byte
	for i := range m.pieces {
		for range 4 { // a removed block may leave something else to mend
			buf = m.pieces[i].msg.AppendTo(buf[:0])
			e := &examiner{rules: m.rules, scale: m.scale, seen: seen, role: m.pieces[i].msg.Role(), line: pyjson.TrimSpace(buf)}
			s, found, line := e.examine()
			if len(found) == 0 {
				for _, id := range s.reasoning {
					seen[id] = true
				}
				break
			}
			for _, f := range found {
				m.pieces[i].addReasons(f.reason)
			}
			m.replace(i, line)
		}
	}
}

// The messages that are inserted between two messages of one side. The user's is
// marked as written by a tool.
const (
	bridgeAnswer   = "(There was no answer.)"
	bridgeQuestion = "<system-reminder>A message of the user is missing here.</system-reminder>"
)

// mendOrder inserts messages so that the sides alternate.
func (m *fixer) mendOrder() {
	rows := m.rows()
	before := map[int]piece{}
	m.order(rows, m.match(rows), func(row, last int) {
		role, text, why := "user", bridgeQuestion, RolesInARow
		switch {
		case rows[row].side != assistant:
			role, text = "assistant", bridgeAnswer
		case last < 0:
			why = FirstNotUser
		}
		line := pyjson.AppendQuoted([]byte(`{"role": "`+role+`", "content": `), text, pyjson.Style{})
		before[row] = piece{msg: m.parse(append(line, '}')), row: -1, why: []Reason{why}}
	})
	if len(before) == 0 {
		return
	}
	pieces := make([]piece, 0, len(m.pieces)+len(before))
	for i, p := range m.pieces {
		if bridge, ok := before[i]; ok {
			pieces = append(pieces, bridge)
		}
		pieces = append(pieces, p)
	}
	m.pieces = pieces
}
