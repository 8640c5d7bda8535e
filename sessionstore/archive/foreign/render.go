package foreign

import (
	"slices"
	"time"
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
	rec := r.t.records.at(at)
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
