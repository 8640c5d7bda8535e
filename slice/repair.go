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
	msgs, rows, err := repair(msgs, rows, d)
	if err != nil {
		return nil, err
	}
	// Taking out a result may leave a turn without its last answer.
	if d = diagnose(rows); d.Healthy() {
		return msgs, nil
	}
	msgs, _, err = repair(msgs, rows, d)
	return msgs, err
}

// repairer goes once over the messages.
type repairer struct {
	built      builder
	after      []row // of what is built
	rows       []row
	broken     map[string]bool // ids of orphaned and misplaced calls
	misplaced  map[string]bool
	incomplete map[int]bool
	newIDs     int
}

func repair(msgs []sessionstore.Message, rows []row, d Diagnosis) ([]sessionstore.Message, []row, error) {
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
		all := r.answer(rows[i])
		if all && (next[i] == len(rows) || rows[next[i]].asks()) || r.incomplete[i] {
			r.add([]byte(repairedAnswer))
		}
	}
	msgs, err := r.built.done()
	return msgs, r.after, err
}

// keep adds the message i as it is.
func (r *repairer) keep(i int, m sessionstore.Message) {
	r.built.keep(m)
	r.after = append(r.after, r.rows[i])
}

// parse adds the message of a line.
func (r *repairer) parse(line []byte) {
	r.built.parse(line)
	r.after = append(r.after, readRow(r.last()))
}

// add adds a new message, given without its closing brace.
func (r *repairer) add(open []byte) { r.parse(append(open, '}')) }

// last returns the message that was added last.
func (r *repairer) last() sessionstore.Message { return r.built.msgs[len(r.built.msgs)-1] }

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
	case slices.ContainsFunc(row.calls, key.unnamed):
		r.parse(named(value(m), r.newID))
	default:
		r.keep(i, m)
	}
	return true
}

func (k key) unnamed() bool { return !k.named }

// newID returns an id that no call has, for a call that is broken as it has
// none.
func (r *repairer) newID() string {
	if r.newIDs == 0 {
		for _, row := range r.rows {
			for _, c := range row.calls {
				r.newIDs = max(r.newIDs, ownID(c.id))
			}
			for _, id := range row.results {
				r.newIDs = max(r.newIDs, ownID(id))
			}
		}
	}
	r.newIDs++
	id := idPrefix + strconv.Itoa(r.newIDs)
	r.broken[id] = true
	return id
}

const idPrefix = "repaired_"

// ownID returns the number of an id that a repair made, else 0.
func ownID(id string) int {
	if len(id) <= len(idPrefix) || id[:len(idPrefix)] != idPrefix {
		return 0
	}
	n, err := strconv.Atoi(id[len(idPrefix):])
	if err != nil || n >= 1<<30 {
		return 0
	}
	return n
}

// answer adds results for the broken calls of the message that was added last,
// which was row, and reports whether all are.
func (r *repairer) answer(row row) (all bool) {
	if !row.makesAny(r.broken) && !slices.ContainsFunc(row.calls, key.unnamed) {
		return false
	}
	all = true
	for _, c := range callsIn(value(r.last())) {
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
	first := len(rows)
	ids := setOf(slices.Concat(d.Orphaned, d.Misplaced))
	for _, c := range newIndex(rows).calls {
		if ids[c.id] {
			first = min(first, c.use)
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
