package slice

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// What stands for what was interrupted, as in the reference.
const (
	repairedResult = `{"error": "unknown_error", "message": "Tool execution was interrupted and no result was captured."}`
	repairedAnswer = `{"role": "assistant", "content": [{"type": "text", ` +
		`"text": "The previous tool calls were interrupted. This response was automatically repaired."}]`
)

var errOtherMessages = errors.New("change messages: the diagnosis is of other messages")

// Repair returns the conversation with a result for every call and an answer
// for every turn, so that [Diagnose] finds it healthy: misplaced results are
// taken out, calls without one get one that says so right behind their
// message, and turns that lack their last answer get one. A call without an id
// is given one. What is healthy is returned as it is.
//
// d must be what Diagnose says about msgs.
func Repair(msgs []sessionstore.Message, d Diagnosis) ([]sessionstore.Message, error) {
	rows := readRows(msgs)
	if !reflect.DeepEqual(diagnose(rows), d) {
		return nil, errOtherMessages
	}
	if d.Healthy() {
		return slices.Clone(msgs), nil
	}
	msgs, err := repair(msgs, rows, d)
	if err != nil {
		return nil, err
	}
	// Taking out a result may leave a turn without its last answer.
	rows = readRows(msgs)
	if d = diagnose(rows); d.Healthy() {
		return msgs, nil
	}
	return repair(msgs, rows, d)
}

// repairer goes once over the messages.
type repairer struct {
	builder
	rows       []row
	broken     map[string]bool // ids of orphaned and misplaced calls
	misplaced  map[string]bool
	incomplete map[int]bool
	newIDs     int
}

func repair(msgs []sessionstore.Message, rows []row, d Diagnosis) ([]sessionstore.Message, error) {
	r := &repairer{rows: rows, broken: setOf(d.Orphaned), misplaced: setOf(d.Misplaced), incomplete: map[int]bool{}}
	if answered(rows)[""] {
		delete(r.broken, "") // it stands for calls without an id, those with an empty one are answered
	}
	for id := range r.misplaced {
		r.broken[id] = true
	}
	for _, t := range d.Incomplete {
		r.incomplete[t.AfterIndex] = true
	}
	next := r.survivors()
	for i, m := range msgs {
		if !r.keepRow(i, m) {
			continue
		}
		all := r.answer(rows[i].calls)
		if all && (next[i] == len(rows) || rows[next[i]].asks()) || r.incomplete[i] {
			r.add([]byte(repairedAnswer))
		}
	}
	return r.done()
}

// survivors returns for every message the next one that stays.
func (r *repairer) survivors() []int {
	next := make([]int, len(r.rows))
	after := len(r.rows)
	for i := len(r.rows) - 1; i >= 0; i-- {
		next[i] = after
		if !r.drops(r.rows[i]) {
			after = i
		}
	}
	return next
}

// drops reports whether a message is nothing but misplaced results.
func (r *repairer) drops(row row) bool {
	if len(row.results) == 0 || row.other {
		return false
	}
	for _, id := range row.results {
		if !r.misplaced[id] {
			return false
		}
	}
	return true
}

// keepRow adds a message without misplaced results, and with ids for its calls
// unless nothing is left of it.
func (r *repairer) keepRow(i int, m sessionstore.Message) bool {
	row := &r.rows[i]
	switch {
	case row.blocks && slices.ContainsFunc(row.results, func(id string) bool { return r.misplaced[id] }):
		line, left := withoutResults(value(m), r.misplaced)
		if left == 0 {
			return false
		}
		r.parse(line)
	case r.drops(*row):
		return false
	case slices.ContainsFunc(row.calls, func(c call) bool { return !c.named }):
		r.parse(named(value(m), func() string { return r.newID(row.calls) }))
	default:
		r.keep(m)
	}
	return true
}

// newID returns an id for the first of the calls that has none, and sets it.
func (r *repairer) newID(calls []call) string {
	for i := range calls {
		if c := &calls[i]; !c.named {
			c.id, c.named = r.unused(), true
			r.broken[c.id] = true
			return c.id
		}
	}
	return r.unused()
}

// unused returns an id that no call has.
func (r *repairer) unused() string {
	if r.newIDs == 0 {
		for _, row := range r.rows {
			for _, c := range row.calls {
				if n, ok := ownID(c.id); ok {
					r.newIDs = max(r.newIDs, n)
				}
			}
			for _, id := range row.results {
				if n, ok := ownID(id); ok {
					r.newIDs = max(r.newIDs, n)
				}
			}
		}
	}
	r.newIDs++
	return idPrefix + strconv.Itoa(r.newIDs)
}

const idPrefix = "repaired_"

// ownID returns the number of an id that a repair made.
func ownID(id string) (int, bool) {
	if len(id) <= len(idPrefix) || id[:len(idPrefix)] != idPrefix {
		return 0, false
	}
	n, err := strconv.Atoi(id[len(idPrefix):])
	return n, err == nil && n < 1<<30
}

// answer adds results for the broken calls, and reports whether all are.
func (r *repairer) answer(calls []call) (all bool) {
	all = len(calls) > 0
	for _, c := range calls {
		if !r.broken[c.id] {
			all = false
			continue
		}
		line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), c.id, pyjson.Style{})
		line = pyjson.AppendQuoted(append(line, `, "name": `...), c.tool, pyjson.Style{})
		r.add(pyjson.AppendQuoted(append(line, `, "content": `...), repairedResult, pyjson.Style{}))
	}
	return all
}

// Rewind returns the messages before the last real user message that precedes
// everything that is wrong: none, if that is the first message or there is no
// such one. What is healthy is returned as it is. The result is healthy.
//
// d must be what [Diagnose] says about msgs.
func Rewind(msgs []sessionstore.Message, d Diagnosis) ([]sessionstore.Message, error) {
	rows := readRows(msgs)
	if !reflect.DeepEqual(diagnose(rows), d) {
		return nil, errOtherMessages
	}
	for !d.Healthy() {
		rows = rows[:rewound(rows, d)]
		d = diagnose(rows)
	}
	return slices.Clone(msgs[:len(rows)]), nil
}

// rewound returns how many messages are left of those that are wrong.
func rewound(rows []row, d Diagnosis) int {
	x := newIndex(rows)
	first := len(rows)
	ids := setOf(slices.Concat(d.Orphaned, d.Misplaced))
	for k, at := range x.uses {
		if ids[k.id] {
			first = min(first, at)
		}
	}
	for _, t := range d.Incomplete {
		first = min(first, t.AfterIndex)
	}
	for first > 0 && !(rows[first].assistant && rows[first].acts) {
		first--
	}
	for first--; first > 0; first-- {
		if rows[first].asks() {
			return first
		}
	}
	return 0
}
