package slice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Orphans decides how [ToTurn] and [Fork] treat calls that have no result.
type Orphans int

// The treatments.
const (
	Complete Orphans = iota // each call gets a result that says that it was interrupted
	Remove                  // the calls are removed from their messages
	Refuse                  // the function returns an error
)

// ToTurn returns all messages up to the end of a turn, counted from 1. Messages
// before the first turn are among them. Calls that have no result among these
// messages are treated as o says. Calls without an id stay as they are: nothing
// can answer them.
//
// It fails, with the text of the reference, when there is no such turn, and with
// [Refuse] when a call has no result.
func ToTurn(msgs []sessionstore.Message, turn int, o Orphans) ([]sessionstore.Message, error) {
	end, err := endOf(msgs, turn)
	if err != nil {
		return nil, err
	}
	return upTo(msgs, end, o)
}

// upTo is ToTurn for the messages before index end.
func upTo(msgs []sessionstore.Message, end int, o Orphans) ([]sessionstore.Message, error) {
	messages := slices.Clone(msgs[:end])
	rows := readRows(messages)
	orphans := orphaned(rows)
	if len(orphans) == 0 {
		return messages, nil
	}
	switch o {
	case Complete:
		return complete(messages, rows, setOf(orphans))
	case Remove:
		return removeCalls(messages, rows, setOf(orphans))
	case Refuse:
		return nil, limits.Reference(nil, fmt.Sprintf("Orphaned tool calls at fork boundary: [%s]. "+
			"These tool_use blocks have no matching tool_result.", quotedList(orphans)))
	}
	return nil, limits.Reference(nil, fmt.Sprintf("Unknown handle_orphaned_tools value: '%d'. "+
		"Expected 'complete', 'remove', or 'error'.", o))
}

// OrphanedToolCalls returns the ids of the calls that have no result anywhere,
// each once, in the order of their first calls. Calls without an id are left
// out.
func OrphanedToolCalls(msgs []sessionstore.Message) []string { return orphaned(readRows(msgs)) }

func orphaned(rows []turns.Row) (ids []string) {
	for _, e := range turns.Match(rows).Exchanges {
		if e.Named && e.Result < 0 {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// quotedList writes ids as Python shows a list of them.
func quotedList(ids []string) string {
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = pyjson.Repr(id)
	}
	return strings.Join(quoted, ", ")
}

// complete adds a result for every orphan, right behind the message that makes
// the call. If the next message begins a turn, it adds an answer as well.
func complete(msgs []sessionstore.Message, rows []turns.Row, orphans map[string]bool) ([]sessionstore.Message, error) {
	var b builder
	names := functionNames(msgs, rows, orphans)
	for i, r := range rows {
		b.keep(msgs[i])
		if !r.MakesAny(orphans) {
			continue
		}
		for _, c := range r.Calls() {
			if c.Named && orphans[c.ID] {
				b.add(forkedToolRow(c.ID, names[c.ID]))
			}
		}
		if i+1 < len(rows) && rows[i+1].Begins {
			b.add(pyjson.AppendQuoted([]byte(`{"role": "assistant", "content": `), turns.ForkedAnswer, pyjson.Style{}))
		}
	}
	return b.done()
}

// functionNames returns the names of the tools that the orphans call, by the
// id of the call.
func functionNames(msgs []sessionstore.Message, rows []turns.Row, orphans map[string]bool) map[string]string {
	names := map[string]string{}
	for i, r := range rows {
		if !r.MakesAny(orphans) {
			continue
		}
		for _, c := range callsIn(value(msgs[i])) {
			if c.Named && c.ID != "" && c.function != "" {
				names[c.ID] = c.function
			}
		}
	}
	return names
}
