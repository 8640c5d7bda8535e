package slice

import (
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var errOtherMessages = errors.New("change messages: the diagnosis is of other messages")

// Repair returns the conversation with a result for every call and an answer
// for every turn, so that [Diagnose] finds it healthy. It removes misplaced
// results. It adds a result, which says that none was captured, right behind each
// message whose calls then lack one. It adds an answer to each turn that lacks
// its last one. It gives an id to each call without one. A healthy conversation
// is returned as it is.
//
// d must be the result of Diagnose for msgs, else Repair returns an error.
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

// repairer goes once over the messages and builds the repaired ones.
type repairer struct {
	built      builder
	after      []turns.Row     // of the built messages
	rows       []turns.Row     // of the given messages
	broken     map[string]bool // ids of the calls that need a new result
	misplaced  map[string]bool // ids of the results that are removed
	incomplete map[int]bool    // by message: an answer is missing behind it
	newIDs     int             // number in the last id that newID made
}

func repair(msgs []sessionstore.Message, rows []turns.Row, d Diagnosis) ([]sessionstore.Message, []turns.Row, error) {
	r := &repairer{rows: rows, broken: setOf(d.Orphaned), misplaced: setOf(d.Misplaced), incomplete: map[int]bool{}}
	if r.broken[""] && turns.Match(rows).Answered("") {
		delete(r.broken, "") // "" means the calls without an id: calls whose id is empty have a result
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
		all := r.addResults(rows[i])
		if all && (next[i] == len(rows) || rows[next[i]].Asks()) || r.incomplete[i] {
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

// survivors returns for every message the index of the next message that stays.
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

// drops reports whether a message holds misplaced results and nothing else.
func (r *repairer) drops(row turns.Row) bool {
	if len(row.Results()) == 0 || row.Other {
		return false
	}
	for _, k := range row.Results() {
		if !r.misplaced[k.ID] {
			return false
		}
	}
	return true
}

// keepRow adds message i without its misplaced results, and with ids for all of
// its calls. It returns false, and adds nothing, if nothing is left of it.
func (r *repairer) keepRow(i int, m sessionstore.Message) bool {
	row := &r.rows[i]
	switch {
	case row.Blocks && slices.ContainsFunc(row.Results(), func(k turns.Key) bool { return r.misplaced[k.ID] }):
		line, left := withoutResults(value(m), r.misplaced)
		if left == 0 {
			return false
		}
		r.parse(line)
	case r.drops(*row):
		return false
	case slices.ContainsFunc(row.Calls(), turns.Key.Unnamed):
		r.parse(named(value(m), r.newID))
	default:
		r.keep(i, m)
	}
	return true
}

// newID returns an id that no call and no result has. The call that gets it
// counts as broken.
func (r *repairer) newID() string {
	if r.newIDs == 0 {
		for _, row := range r.rows {
			for _, k := range row.IDs {
				r.newIDs = max(r.newIDs, ownID(k.ID))
			}
		}
	}
	r.newIDs++
	id := idPrefix + strconv.Itoa(r.newIDs)
	r.broken[id] = true
	return id
}

const idPrefix = "repaired_"

// ownID returns the number in an id that a repair made, and 0 for another id.
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

// addResults adds results for the broken calls of the message that was added last. row is that
// message before the repair. answer reports whether all calls of the message are broken.
func (r *repairer) addResults(row turns.Row) (all bool) {
	if !row.MakesAny(r.broken) && !slices.ContainsFunc(row.Calls(), turns.Key.Unnamed) {
		return false
	}
	all = true
	for _, c := range callsIn(value(r.last())) {
		if !r.broken[c.ID] {
			all = false
			continue
		}
		line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), c.ID, pyjson.Style{})
		line = pyjson.AppendQuoted(append(line, `, "name": `...), c.tool, pyjson.Style{})
		r.add(pyjson.AppendQuoted(append(line, `, "content": `...), turns.RepairedResult, pyjson.Style{}))
	}
	return all
}

// Rewind returns the messages before the last real user message (see
// [IsRealUser]) that precedes everything that is wrong. It returns none if that
// is the first message, or if there is no such message. A healthy conversation
// is returned as it is. The result is healthy.
//
// d must be the result of [Diagnose] for msgs, else Rewind returns an error.
func Rewind(msgs []sessionstore.Message, d Diagnosis) ([]sessionstore.Message, error) {
	rows := readRows(msgs)
	if !reflect.DeepEqual(diagnose(rows), d) {
		return nil, errOtherMessages
	}
	for !d.Healthy() {
		rows = rows[:rewindLength(rows, d)]
		d = diagnose(rows)
	}
	return slices.Clone(msgs[:len(rows)]), nil
}

// rewindLength returns how many messages are left when the end that d finds wrong is
// removed.
func rewindLength(rows []turns.Row, d Diagnosis) int {
	first := len(rows)
	ids := setOf(slices.Concat(d.Orphaned, d.Misplaced))
	for _, e := range turns.Match(rows).Exchanges {
		if ids[e.ID] {
			first = min(first, e.Call)
		}
	}
	for _, t := range d.Incomplete {
		first = min(first, t.AfterIndex)
	}
	for first > 0 && !(rows[first].Assistant && rows[first].Acts) {
		first--
	}
	for first--; first > 0; first-- {
		if rows[first].Asks() {
			return first
		}
	}
	return 0
}

// forkedToolRow returns the result that completes a call, without the closing
// brace. A result for a tool without a name has no member name.
func forkedToolRow(id, name string) []byte {
	line := pyjson.AppendQuoted([]byte(`{"role": "tool", "tool_call_id": `), id, pyjson.Style{})
	line = pyjson.AppendQuoted(append(line, `, "content": `...), turns.ForkedResult, pyjson.Style{})
	if name != "" {
		line = pyjson.AppendQuoted(append(line, `, "name": `...), name, pyjson.Style{})
	}
	return line
}

// repairedAnswer is the answer that [Repair] adds, without its closing brace, as in the
// reference.
const (
	repairedAnswer = `{"role": "assistant", "content": [{"type": "text", ` +
		`"text": "The previous tool calls were interrupted. This response was automatically repaired."}]`
)

// call is a call of a tool. The reference takes the tool's name from other
// members when it completes a call than when it repairs one.
type call struct {
	turns.Key
	function string // the name for [ToTurn], see [Complete]
	tool     string // the name for [Repair]
}

// callsIn returns the calls of an assistant message: the same calls whose keys
// are in its [row].
func callsIn(line []byte) (calls []call) {
	found := turns.Members(line, "tool_calls", "content")
	listed := map[turns.Key]int{}
	for raw := range pyjson.Elements(found[0]) {
		if pyjson.KindOf(raw) == pyjson.Object {
			c := listedCall(raw)
			listed[c.Key] = len(calls)
			calls = append(calls, c)
		}
	}
	for block := range pyjson.Elements(found[1]) {
		if !turns.IsBlock(block, "tool_use") {
			continue
		}
		f := turns.Members(block, "id", "name")
		c := call{turns.KeyOf(f[0]), turns.TextOf(f[1]), turns.TextOf(f[1])}
		at, ok := listed[c.Key]
		switch {
		case !ok || !c.Named:
			calls = append(calls, c)
		case c.function != "":
			calls[at].function = c.function // one call in both forms
		}
	}
	return calls
}

// listedCall returns the call that an element of tool_calls is.
func listedCall(raw []byte) call {
	f := turns.Members(raw, "id", "tool", "function", "name")
	function := turns.TextOf(turns.Members(f[2], "name")[0])
	c := call{turns.KeyOf(f[0]), function, function}
	if c.function == "" {
		c.function = turns.TextOf(f[3])
	}
	if f[1] != nil {
		c.tool = turns.TextOf(f[1])
	}
	return c
}
