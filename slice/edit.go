package slice

import (
	"bytes"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// removeCalls removes the orphans from the messages that make them. It removes
// tool_calls when no call is left. As in the reference, it also removes lists
// that were empty before.
func removeCalls(msgs []sessionstore.Message, rows []turns.Row, orphans map[string]bool) ([]sessionstore.Message, error) {
	var b builder
	for i, m := range msgs {
		if !rows[i].Assistant || !rows[i].Acts {
			b.keep(m)
			continue
		}
		line := value(m)
		changed := withoutCalls(line, orphans)
		if len(changed) == len(line) {
			b.keep(m)
			continue
		}
		b.parse(changed)
	}
	return b.done()
}

// withoutCalls returns a message without the calls of those ids. The result has the same
// length only if nothing was removed.
func withoutCalls(line []byte, ids map[string]bool) []byte {
	found := turns.Members(line, "tool_calls", "content")
	if pyjson.KindOf(found[0]) == pyjson.Array {
		list, left := pyjson.Without(found[0], func(raw []byte) bool {
			id, ok := turns.IDOf(turns.Members(raw, "id")[0])
			return ok && ids[id]
		})
		if left == 0 {
			line = pyjson.Remove(line, "tool_calls")
		} else {
			line = pyjson.Splice(line, "tool_calls", list)
		}
	}
	if pyjson.KindOf(found[1]) == pyjson.Array {
		list, _ := pyjson.Without(found[1], func(raw []byte) bool {
			id, ok := turns.IDOf(turns.Members(raw, "id")[0])
			return ok && ids[id] && turns.IsBlock(raw, "tool_use")
		})
		line = pyjson.Splice(line, "content", list)
	}
	return line
}

// withoutResults returns a user message without the tool_result blocks for
// those ids, and the number of blocks that are left.
func withoutResults(line []byte, ids map[string]bool) ([]byte, int) {
	list, left := pyjson.Without(turns.Members(line, "content")[0], func(raw []byte) bool {
		id, ok := turns.ResultID(raw)
		return ok && ids[id] && turns.IsBlock(raw, "tool_result")
	})
	return pyjson.Splice(line, "content", list), left
}

// named returns an assistant message whose calls without an id have the ids
// that next returns.
func named(line []byte, next func() string) []byte {
	found := turns.Members(line, "tool_calls", "content")
	name := func(raw []byte) []byte {
		return pyjson.Splice(raw, "id", pyjson.Quote(next()))
	}
	unnamed := func(raw []byte) bool {
		_, ok := turns.IDOf(turns.Members(raw, "id")[0])
		return !ok
	}
	line = replaced(line, "tool_calls", found[0], name, func(raw []byte) bool {
		return pyjson.KindOf(raw) == pyjson.Object && unnamed(raw)
	})
	return replaced(line, "content", found[1], name, func(raw []byte) bool {
		return turns.IsBlock(raw, "tool_use") && unnamed(raw)
	})
}

// builder builds a list of messages. It keeps the first error for done.
type builder struct {
	msgs []sessionstore.Message
	err  error
}

// keep adds a message as it is.
func (b *builder) keep(m sessionstore.Message) { b.msgs = append(b.msgs, m) }

// add adds a new message, given without its closing brace.
func (b *builder) add(open []byte) { b.parse(append(open, '}')) }

// parse adds the message of a line.
func (b *builder) parse(line []byte) {
	// A carriage return can only be between members.
	m, err := sessionstore.ParseMessage(bytes.ReplaceAll(line, []byte{'\r'}, []byte{' '}))
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("change messages: %w", err)
	}
	b.msgs = append(b.msgs, m)
}

// done returns the messages, or the first error.
func (b *builder) done() ([]sessionstore.Message, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.msgs, nil
}
