package slice

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Orphans says what becomes of calls without a result.
type Orphans int

// What becomes of them.
const (
	Complete Orphans = iota // they get a result that says that they were interrupted
	Remove                  // they are taken out of their messages
	Refuse                  // they are an error
)

// What stands for what was interrupted, as in the reference.
const (
	forkedResult = `{"error": "Tool execution interrupted by session fork", "forked": true, ` +
		`"message": "This tool call was in progress when the session was forked. The result is not available in this forked session."}`
	forkedAnswer = "The previous tool calls were interrupted by a session fork. Results are not available in this forked session."
)

// ToTurn returns the messages up to and with a turn, and those before the
// first. Rewinding a session to a turn is the same. Calls without a result
// among these messages are treated as o says; calls without an id, which
// nothing can answer, are left alone.
//
// The errors are the reference's: for a turn that is not there, and in the mode
// [Refuse] for orphans.
func ToTurn(msgs []sessionstore.Message, turn int, o Orphans) ([]sessionstore.Message, error) {
	end, err := endOf(msgs, turn)
	if err != nil {
		return nil, err
	}
	return upTo(msgs, end, o)
}

// upTo returns the messages before the index end, as ToTurn does.
func upTo(msgs []sessionstore.Message, end int, o Orphans) ([]sessionstore.Message, error) {
	kept := slices.Clone(msgs[:end])
	rows := readRows(kept)
	orphans := orphaned(rows)
	if len(orphans) == 0 {
		return kept, nil
	}
	switch o {
	case Complete:
		return complete(kept, rows, setOf(orphans))
	case Remove:
		return removeCalls(kept, rows, setOf(orphans))
	case Refuse:
		return nil, textError(fmt.Sprintf("Orphaned tool calls at fork boundary: [%s]. "+
			"These tool_use blocks have no matching tool_result.", quotedList(orphans)))
	}
	return nil, textError(fmt.Sprintf("Unknown handle_orphaned_tools value: '%d'. "+
		"Expected 'complete', 'remove', or 'error'.", o))
}

// OrphanedToolCalls returns the ids of the calls without a result, each once,
// in the order in which they appear.
func OrphanedToolCalls(msgs []sessionstore.Message) []string { return orphaned(readRows(msgs)) }

func orphaned(rows []row) (ids []string) {
	done := answered(rows)
	for _, r := range rows {
		for _, c := range r.calls {
			if c.named && !done[c.id] {
				done[c.id] = true
				ids = append(ids, c.id)
			}
		}
	}
	return ids
}

// answered returns the ids of all results.
func answered(rows []row) map[string]bool {
	count := 0
	for _, r := range rows {
		count += len(r.results)
	}
	ids := make(map[string]bool, count)
	for _, r := range rows {
		for _, id := range r.results {
			ids[id] = true
		}
	}
	return ids
}

func setOf[T comparable](list []T) map[T]bool {
	set := make(map[T]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return set
}

// makesAny reports whether the message makes one of the calls.
func (r row) makesAny(ids map[string]bool) bool {
	return slices.ContainsFunc(r.calls, func(k key) bool { return k.named && ids[k.id] })
}

// quotedList writes ids as Python shows a list of them.
func quotedList(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = pyjson.Repr(id)
	}
	return strings.Join(quoted, ", ")
}

// complete answers the orphans right behind the messages that make them. The
// turn of such a message is closed when another turn follows at once.
func complete(msgs []sessionstore.Message, rows []row, orphans map[string]bool) ([]sessionstore.Message, error) {
	var b builder
	names := functionNames(msgs, rows, orphans)
	for i, r := range rows {
		b.keep(msgs[i])
		if !r.makesAny(orphans) {
			continue
		}
		for _, c := range r.calls {
			if c.named && orphans[c.id] {
				b.add(forkedToolRow(c.id, names[c.id]))
			}
		}
		if i+1 < len(rows) && rows[i+1].begins {
			b.add(pyjson.AppendQuoted([]byte(`{"role": "assistant", "content": `), forkedAnswer, pyjson.Style{}))
		}
	}
	return b.done()
}

// functionNames returns the names of the orphans' tools by the ids of the
// calls.
func functionNames(msgs []sessionstore.Message, rows []row, orphans map[string]bool) map[string]string {
	names := map[string]string{}
	for i, r := range rows {
		if !r.makesAny(orphans) {
			continue
		}
		for _, c := range callsIn(value(msgs[i])) {
			if c.named && c.id != "" && c.function != "" {
				names[c.id] = c.function
			}
		}
	}
	return names
}

// forkedToolRow returns a result without its closing brace.
func forkedToolRow(id, name string) []byte {
	line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), id, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "content": `...), forkedResult, pyjson.Style{})
	if name != "" {
		line = pyjson.AppendQuoted(append(line, `, "name": `...), name, pyjson.Style{})
	}
	return line
}

// builder puts a list of messages together. It remembers the first error.
type builder struct {
	msgs []sessionstore.Message
	err  error
}

func (b *builder) keep(m sessionstore.Message) { b.msgs = append(b.msgs, m) }

// add adds a new message, given without its closing brace.
func (b *builder) add(open []byte) { b.parse(append(open, '}')) }

// parse adds the message of a line.
func (b *builder) parse(line []byte) {
	// A carriage return can only stand between members.
	m, err := sessionstore.ParseMessage(bytes.ReplaceAll(line, []byte{'\r'}, []byte{' '}))
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("change messages: %w", err)
	}
	b.msgs = append(b.msgs, m)
}

func (b *builder) done() ([]sessionstore.Message, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.msgs, nil
}
