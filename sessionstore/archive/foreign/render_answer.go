package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// gather adds the lines of one response to the answer. Lines beside the chain add
// calls only: the others are repetitions.
func (r *rendering) gather(lines []int32) error {
	a, most, model := r.answer, usage{}, ""
	for _, at := range lines {
		l, err := r.read(at)
		if err != nil {
			return err
		}
		p := l.answer()
		if a.at.IsZero() {
			a.at = r.lastTime
		}
		took := false
		if r.t.records.at(at).is(onLine) {
			a.said, a.thought, took = append(a.said, p.said...), append(a.thought, p.thought...), true
			for _, kind := range p.other {
				r.report.block(kind)
			}
		}
		for _, c := range p.calls {
			took = r.call(at, c) || took
		}
		r.numbers[at] = number(whyRepeated) // it is taken; a line of the answer gets its number when that goes out
		if took {
			a.lines = append(a.lines, at)
		}
		named, used := l.spent()
		most.most(used)
		if named != "" {
			model = named
		}
	}
	if model != "" {
		r.model = model
		r.spend(most)
	}
	return nil
}

// call adds a call to the answer, and reports whether it was not there yet.
func (r *rendering) call(at int32, c sessionstore.ToolCall) bool {
	a, h := r.answer, hash(c.ID)
	if c.ID != "" && slices.Contains(a.hashes, h) {
		return false
	}
	c.ID = r.callID(c.ID, h)
	c.Name = clean(c.Name, "tool")
	a.calls, a.hashes, a.caller = append(a.calls, c), append(a.hashes, h), append(a.caller, at)
	return true
}

// callID returns an id that all providers allow and no other call has.
func (r *rendering) callID(id string, h uint64) string {
	fit := clean(id, "call")
	if fit == id && !r.t.repeated[h] {
		return id
	}
	r.used[fit]++
	return fit[:min(len(fit), 44)] + "-" + strconv.Itoa(r.used[fit]) + "-" + strconv.FormatUint(h%(1<<32), 36)
}

// clean returns a name of at most 64 letters, digits, _ and -.
func clean(s, empty string) string {
	b := []byte(s)
	for i, c := range b {
		if !isName(string(c)) {
			b[i] = '_'
		}
	}
	if len(b) == 0 {
		return empty
	}
	return string(b[:min(len(b), 64)])
}

// flushAnswer sends out the answer and the results of its calls.
func (r *rendering) flushAnswer() error {
	a := r.answer
	if a == nil {
		return nil
	}
	r.answer = nil
	if len(a.said) == 0 && len(a.calls) == 0 {
		why := whyEmpty
		if len(a.thought) > 0 {
			why = whyThinking
		}
		for _, at := range a.lines {
			r.numbers[at] = number(why)
		}
		return nil
	}
	if r.messages == 0 {
		if err := r.add("user", reminder(noBeginning)); err != nil {
			return err
		}
	}
	m, err := r.origin(a.at, a.lines).answerMessage(strings.Join(a.said, "\n\n"), strings.Join(a.thought, "\n\n"), a.calls)
	if err != nil { // arguments that no file can hold, such as an endless number
		for i := range a.calls {
			a.calls[i].Arguments = nil
		}
		r.report.block("not-storable")
		m, err = r.origin(a.at, a.lines).answerMessage(strings.Join(a.said, "\n\n"), strings.Join(a.thought, "\n\n"), a.calls)
	}
	if err := r.send(m, err, a.lines); err != nil {
		return err
	}
	r.owing, r.open = false, false
	for i, c := range a.calls {
		if err := r.result(c, a.hashes[i], a.at); err != nil {
			return err
		}
		r.owing = true
	}
	return nil
}
