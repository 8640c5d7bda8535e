package foreign

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	userrow "github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// render makes the messages of chain and hands each to emit.
func (r *rendering) render() error {
	r.numbers = make([]int32, r.t.records.len())
	r.usage, r.used = map[string]*usage{}, map[string]int{}
	r.lastTime = r.t.first
	if r.lastTime.IsZero() {
		r.lastTime = time.Unix(0, 0).UTC()
	}
	if err := r.expand(); err != nil {
		return err
	}
	for _, at := range r.chain {
		r.t.records.at(at).flags |= onLine
	}
	if r.here != nil {
		for _, l := range r.here.lines {
			r.numbers[l.at] = number(whyHere)
		}
		next, stop := iter.Pull2(r.here.rows)
		defer stop()
		r.next = next
	}
	defer func() {
		for _, at := range r.chain {
			r.t.records.at(at).flags &^= onLine
		}
	}()
	for i, at := range r.chain {
		if err := r.step(i, at); err != nil {
			return err
		}
	}
	if err := r.flush(); err != nil {
		return err
	}
	for _, at := range r.chain {
		if r.numbers[at] != 0 {
			continue
		}
		r.numbers[at] = number(whyBookkeep)
		if r.t.records.at(at).is(hasResults) {
			r.numbers[at] = number(whyNoCall)
		}
	}
	return r.payAnswer()
}

func (r *rendering) step(i int, at int32) error {
	if l, found := r.here.of(at); found {
		return r.ours(l)
	}
	rec := r.t.records.at(at)
	if rec.is(isAssistant | isUser | isQueued) {
		if err := r.settleCalls(); err != nil {
			return err
		}
	}
	switch {
	case r.numbers[at] != 0: // a part of a response that is out already
		return nil
	case rec.is(isAssistant):
		return r.respond(i)
	case rec.is(isUser) || rec.is(isQueued):
		return r.user(at)
	case rec.is(isNote):
		return r.note(at)
	}
	return nil
}

// maxSiblings is how many lines of a response are looked for beside the chain.
const maxSiblings = 4096

// respond takes the response whose first line is chain[i], with all of its lines.
func (r *rendering) respond(i int) error {
	key := r.t.records.at(r.chain[i]).key
	var lines []int32
	for _, at := range r.chain[i:] {
		rec := r.t.records.at(at)
		if rec.is(isPerson) || rec.is(isAssistant) && rec.key != key {
			break
		}
		if rec.is(isAssistant) && r.numbers[at] == 0 {
			lines = append(lines, at)
		}
	}
	siblings := r.t.withKey(key)
	for _, at := range siblings[:min(len(siblings), maxSiblings)] {
		rec := r.t.records.at(at)
		same := rec.is(isSidechain) == r.t.records.at(r.chain[i]).is(isSidechain)
		if same && r.numbers[at] == 0 && !rec.is(onLine|isRepeated) {
			lines = append(lines, at)
		}
	}
	slices.Sort(lines)
	if err := r.flushUser(); err != nil {
		return err
	}
	if r.answer != nil && len(r.answer.calls) > 0 {
		if err := r.flushAnswer(); err != nil {
			return err
		}
	}
	if r.answer == nil {
		r.answer = &response{}
	}
	return r.gather(lines)
}

func (r *rendering) flush() error {
	if err := r.flushUser(); err != nil {
		return err
	}
	return r.flushAnswer()
}

// ours sends out the messages of a line that an export made, as they are in the session.
func (r *rendering) ours(l hereLine) error {
	if err := r.flush(); err != nil {
		return err
	}
	if l.last > 0 && r.messages+1 < int(l.first) {
		if err := r.payAnswer(); err != nil {
			return err
		}
	}
	for r.row < int(l.last) {
		m, err, ok := r.next()
		if !ok || err != nil {
			return cmp.Or(err, ErrChanged)
		}
		if r.row++; r.row < int(l.first) {
			continue
		}
		if err := r.send(m, nil, nil); err != nil {
			return err
		}
		r.fromHere++
		r.goOnBehind(m)
	}
	r.numbers[l.at] = int32(r.messages)
	return nil
}

// goOnBehind takes what follows from a message that was said here.
func (r *rendering) goOnBehind(m sessionstore.Message) {
	if at, ok := m.Timestamp(); ok {
		r.lastTime = at
	}
	switch m.Role() {
	case "user":
		if userrow.ReadUser(core.From(m, "content"), core.From(m, "tool_call_id") != nil, nil).Real {
			r.turns++
			r.called([]string{m.Content()})
			r.open = true
		}
	case "assistant":
		r.owing, r.open, r.waiting = false, false, m.ToolCalls()
	case "tool":
		r.owing = true
		r.waiting = slices.DeleteFunc(r.waiting, func(c sessionstore.ToolCall) bool { return c.ID == m.ToolCallID() })
	}
}

// settleCalls sends out the results of calls that have none here, before the tool goes on.
func (r *rendering) settleCalls() error {
	calls := r.waiting
	r.waiting = nil
	for _, c := range calls {
		if err := r.result(c, hash(c.ID), r.lastTime); err != nil {
			return err
		}
		r.owing = true
	}
	return nil
}
