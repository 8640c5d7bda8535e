package thread

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Render makes the messages of a chain of records and hands each to emit. shared is the
// number of turns before the first one of its own, and here has the messages that came from
// its session. The first messages, early of them, are made by the rules before 3, by which
// pictures in results were texts, and the texts of the tool between prompts came behind them.
func Render(f *File, chain []int32, shared, early int, here *HereRows, n *Notes, emit func(sessionstore.Message) error) (*Rendering, error) {
	r := &Rendering{
		f: f, chain: chain, shared: shared, early: early, here: here, notes: n, emit: emit,
		Numbers: make([]int32, f.Table.Records.Len()), Usage: map[string]*Usage{}, used: map[string]int{}, Start: f.Table.First,
	}
	if r.Start.IsZero() {
		r.Start = time.Unix(0, 0).UTC()
	}
	r.LastTime = r.Start
	if len(chain) > 0 && f.Table.Records.At(chain[0]).Is(IsCompacted) {
		if err := r.expand(); err != nil {
			return r, err
		}
	}
	for _, at := range r.chain {
		f.Table.Records.At(at).Flags |= onLine
	}
	defer func() {
		for _, at := range r.chain {
			f.Table.Records.At(at).Flags &^= onLine
		}
	}()
	if here != nil {
		for _, l := range here.Lines {
			r.Numbers[l.At] = whyHere
		}
		next, stop := iter.Pull2(here.Rows)
		defer stop()
		r.next = next
	}
	for i, at := range r.chain {
		if err := r.step(i, at); err != nil {
			return r, err
		}
	}
	if err := r.flush(); err != nil {
		return r, err
	}
	if here != nil {
		for at, n := range here.Instead {
			r.Numbers[at] = n
		}
	}
	for _, at := range r.chain {
		switch {
		case r.Numbers[at] != 0:
		case f.Table.Records.At(at).Is(HasResults):
			r.Numbers[at] = whyNoCall
		default:
			r.Numbers[at] = whyBookkeep
		}
	}
	return r, r.payAnswer()
}

func (r *Rendering) step(i int, at int32) error {
	if r.here != nil {
		if l, found := r.here.Of(at); found {
			return r.ours(l)
		}
	}
	rec := r.f.Table.Records.At(at)
	if len(r.waiting) > 0 && rec.Is(IsAssistant|IsUser|IsQueued) {
		if err := r.settleCalls(); err != nil {
			return err
		}
	}
	switch {
	case r.Numbers[at] != 0: // a part of a response that is out already
		return nil
	case rec.Is(IsAssistant):
		return r.respond(i)
	case rec.Is(IsUser) || rec.Is(IsQueued):
		return r.user(at)
	case rec.Is(IsNote):
		return r.note(at)
	}
	return nil
}

// respond takes the response whose first line is chain[i], with all of its lines.
func (r *Rendering) respond(i int) error {
	key := r.f.Table.Records.At(r.chain[i]).Key
	var lines []int32
	for _, at := range r.chain[i:] {
		rec := r.f.Table.Records.At(at)
		if rec.Is(IsPerson) || rec.Is(IsAssistant) && rec.Key != key {
			break
		}
		if rec.Is(IsAssistant) && r.Numbers[at] == 0 {
			lines = append(lines, at)
		}
	}
	siblings := r.f.Table.withKey(key)
	for _, at := range siblings[:min(len(siblings), maxSiblings)] {
		rec := r.f.Table.Records.At(at)
		same := rec.Is(IsSidechain) == r.f.Table.Records.At(r.chain[i]).Is(IsSidechain)
		if same && r.Numbers[at] == 0 && !rec.Is(onLine|IsRepeated) {
			lines = append(lines, at)
		}
	}
	slices.Sort(lines)
	if r.answer == nil || len(r.answer.Calls) > 0 { // else the answer goes on
		if err := r.flush(); err != nil {
			return err
		}
		r.answer = &response{}
	}
	return r.gather(lines)
}

// ours sends out the messages of a line that an export made, as they are in the session.
func (r *Rendering) ours(l HereLine) error {
	if err := r.flush(); err != nil {
		return err
	}
	if l.Last > 0 && r.messages+1 < int(l.First) {
		if err := r.payAnswer(); err != nil {
			return err
		}
	}
	for r.row < int(l.Last) {
		m, err, ok := r.next()
		if !ok || err != nil {
			return cmp.Or(err, ErrChanged)
		}
		if r.row++; r.row < int(l.First) {
			continue
		}
		if err := r.emit(m); err != nil {
			return err
		}
		r.messages++
		r.FromHere = append(r.FromHere, int32(r.row))
		r.goOnBehind(m)
	}
	r.Numbers[l.At] = int32(r.messages)
	return nil
}

// goOnBehind takes the state that follows from a message that was said here.
func (r *Rendering) goOnBehind(m sessionstore.Message) {
	if at, ok := m.Timestamp(); ok {
		r.LastTime = at
	}
	switch m.Role() {
	case "user":
		if turns.ReadUser(core.From(m, "content"), core.From(m, "tool_call_id") != nil, nil).Real {
			r.Turns++
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
func (r *Rendering) settleCalls() error {
	calls := r.waiting
	r.waiting = nil
	for _, c := range calls {
		if err := r.result(c, Hash(c.ID), r.LastTime); err != nil {
			return err
		}
		r.owing = true
	}
	return nil
}
