package foreign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// findEnd finds the record that the conversation ends with: the leaf with the newest
// time, of those of no sub-agent. Where none has a time, t.end stays as it was.
func (h *history) findEnd(ctx context.Context) error {
	t := h.t
	if t.end >= 0 {
		return nil
	}
	in, newest := newInput(h.file, h.size), time.Time{}
	for i, r := range t.records.all() {
		at := int32(i)
		if r.uuid == 0 || r.is(hasChild|isRepeated|isSidechain|isProgress) || t.dropped(at) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		raw, err := in.line(r.offset)
		if err != nil {
			return err
		}
		p, err := h.format.part(raw, r.offset, 0)
		if err != nil {
			return &LineError{int(t.line(at)) + 1, ErrChanged}
		}
		if when := p.time(); !when.IsZero() && !when.Before(newest) {
			t.end, newest = at, when
		}
	}
	return nil
}

// count counts what the records of a session hold, without those of sub-sessions.
func (tg target) count(file string) (Count, error) {
	f := &tg.t.facts
	c := Count{
		Tool: tg.tool, ID: tg.id, ForeignID: firstOf(tg.foreign, tg.history.id), Parent: textOrNull(tg.parent), File: file, Dir: textOrNull(tg.t.cwd),
		First: textOrNull(f.firstText), Last: textOrNull(f.lastText), Models: map[string]int{}, UnreadLines: f.unread, UnknownKinds: f.unknown,
	}
	if c.UnknownKinds == nil {
		c.UnknownKinds = map[string]int{}
	}
	if tg.tool == Codex {
		err := tg.countCodex(&c)
		return c, err
	}
	for i, r := range tg.t.records.all() {
		if r.uuid != 0 && !r.is(isRepeated) && tg.mine(int32(i)) {
			c.record(r)
		}
	}
	c.Calls, c.Results, c.NoResult = tg.t.countCalls(tg.mine)
	c.Responses = tg.t.countResponses(tg.mine)
	for _, s := range f.spent {
		if tg.mine(s.at) {
			c.response(f, s)
		}
	}
	if tg.kind == Agent {
		c.AgentPrompts, c.Prompts = c.Prompts.All, CountedPrompts{}
		c.Queued, c.Slash, c.Shell = 0, 0, 0
		return c, nil
	}
	err := tg.countLines(&c)
	return c, err
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c *Count) record(r *record) {
	for f, n := range map[flags]*int{isPrompt: &c.Prompts.All, isQueued: &c.Queued, isSlash: &c.Slash, isShell: &c.Shell} {
		if r.is(f) {
			*n++
		}
	}
}

// response counts a response of Claude Code.
func (c *Count) response(f *facts, s spent) {
	if s.model > 0 {
		c.Models[f.models[s.model-1]]++
	}
	u := &c.Usage
	for i, sum := range []**int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite} {
		if s.has&(1<<i) == 0 {
			continue
		}
		if *sum == nil {
			*sum = new(int64)
		}
		**sum += int64(s.tokens[i])
	}
}

// countLines counts the prompts of both lines of Claude Code.
func (tg target) countLines(c *Count) (err error) {
	if c.Prompts.Whole, c.LastPrompt.Whole, err = tg.countLine(wholeLine); err != nil {
		return err
	}
	c.Prompts.Active, c.LastPrompt.Active, err = tg.countLine(activeLine)
	return err
}

func (tg target) countLine(s scope) (n int, last *string, err error) {
	end, steps := tg.t.last(tg.t.leaves(tg.t.roots())[0], s), 0
	line := tg.t.walk(end, s)
	for range line {
		steps++
	}
	if end >= 0 && steps == tg.t.records.len() { // it may be a circle
		chain := tg.t.back(end, s)
		slices.Reverse(chain)
		line = slices.Values(chain)
	}
	at := int32(-1)
	for rec := range line {
		if !tg.t.records.at(rec).is(isPrompt) {
			continue
		}
		if n++; at < 0 {
			at = rec
		}
	}
	last, err = tg.promptHash(at)
	return n, last, err
}

// promptHash returns the hash of the text of a prompt, nil where there is none.
func (h *history) promptHash(at int32) (*string, error) {
	if at < 0 {
		return nil, nil
	}
	offset := h.t.records.at(at).offset
	raw, err := newInput(h.file, h.size).line(offset)
	if err != nil {
		return nil, err
	}
	p, err := h.format.part(raw, offset, h.t.nth(at))
	if err != nil {
		return nil, &LineError{int(h.t.line(at)) + 1, ErrChanged}
	}
	sum := sha256.Sum256([]byte(p.prompt()))
	return textOrNull(hex.EncodeToString(sum[:])), nil
}

// countResponses counts responses, each once.
func (t *table) countResponses(mine func(at int32) bool) (n int) {
	last, seen := uint64(0), false
	for _, at := range t.byKey {
		r := t.records.at(at)
		if r.uuid == 0 || !mine(at) || seen && r.key == last {
			continue
		}
		last, seen = r.key, true
		n++
	}
	return n
}

// countCalls counts calls and results, each id once, and the calls that have no
// result.
func (t *table) countCalls(mine func(at int32) bool) (calls, results, without int) {
	each := func(all []result, count func(call uint64)) {
		for i := 0; i < len(all); {
			call, found := all[i].call, false
			for ; i < len(all) && all[i].call == call; i++ {
				found = found || mine(all[i].at) && !t.records.at(all[i].at).is(isRepeated)
			}
			if found {
				count(call)
			}
		}
	}
	each(t.results, func(uint64) { results++ })
	each(t.calls, func(call uint64) {
		calls++
		if len(t.resultsOf(call)) == 0 {
			without++
		}
	})
	return calls, results, without
}

// countCodex counts a file of Codex.
func (tg target) countCodex(c *Count) (err error) {
	f := &tg.t.facts.codex
	prompts := f.prompts
	if prompts.all == 0 {
		prompts = f.typed
	}
	c.Prompts = CountedPrompts{Whole: len(prompts.on), Active: len(prompts.on), All: prompts.all}
	if tg.kind == Agent {
		c.AgentPrompts = prompts.all
	}
	if len(prompts.on) > 0 {
		if c.LastPrompt.Whole, err = tg.promptHash(prompts.on[len(prompts.on)-1]); err != nil {
			return err
		}
		c.LastPrompt.Active = c.LastPrompt.Whole
	}
	c.Shell, c.Responses, c.Calls, c.Results, c.NoResult = f.shell, f.responses, f.calls, f.results, tg.t.unanswered(f.pending)
	for model, n := range f.turns {
		c.Models[model] = n
	}
	none := int64(0)
	c.Usage = CountedUsage{Input: f.total[0], Output: f.total[1], CacheRead: f.total[2], CacheWrite: &none}
	return nil
}

// unanswered counts the calls that have no result.
func (t *table) unanswered(calls []uint64) (n int) {
	for _, call := range calls {
		if len(t.resultsOf(call)) == 0 {
			n++
		}
	}
	return n
}

// countFile counts the session of a file and the sub-agents whose lines stand in it.
func (r *Report) countFile(top target, others []target, file string) error {
	forks := map[string]int{}
	for _, tg := range others {
		if tg.kind == Branch {
			forks[tg.parent]++
		}
	}
	for i, tg := range append([]target{top}, others...) {
		if i > 0 && tg.kind != Agent {
			continue
		}
		c, err := tg.count(file)
		if err != nil {
			return err
		}
		if c.Forks = forks[c.ID]; i > 0 {
			c.UnreadLines, c.UnknownKinds = 0, map[string]int{}
			if c.First, c.Last, err = tg.times(); err != nil {
				return err
			}
		}
		r.counted(c)
	}
	return nil
}

// times returns the times of the records of a sub-agent whose lines stand in the file
// of its session.
func (tg target) times() (first, last *string, err error) {
	f, in := facts{}, newInput(tg.file, tg.size)
	for i, r := range tg.t.records.all() {
		if !tg.mine(int32(i)) {
			continue
		}
		raw, err := in.line(r.offset)
		if err != nil {
			return nil, nil, err
		}
		l, err := parseClaude(raw)
		if err != nil {
			return nil, nil, &LineError{int(tg.t.line(int32(i))) + 1, ErrChanged}
		}
		f.time(l.at, l.atText)
	}
	return textOrNull(f.firstText), textOrNull(f.lastText), nil
}

// line returns the conversation of a file, or that of a sub-agent.
func (h *history) line(s scope) []int32 {
	if chain := h.t.conversation(h.t.leaves(h.t.roots())[0], s); len(chain) > 0 {
		return chain
	}
	return h.t.conversation(h.t.leaves(nil)[0], s)
}

// spending returns what the session used in its tool, by model: each response once. It is
// nil for what was made of a branch, whose responses are those of its session.
func (tg target) spending() map[string]*spending {
	if tg.mine == nil {
		return nil
	}
	all := map[string]*spending{}
	if tg.tool == Codex {
		c := &tg.t.facts.codex
		if c.total[0] != nil || c.total[1] != nil {
			s := &spending{Responses: c.responses - c.exported}
			for i, n := range []*int64{&s.Input, &s.Output, &s.CacheRead} {
				if c.total[i] != nil {
					*n = max(0, *c.total[i]-c.base[i])
				}
			}
			s.Input = max(0, s.Input-s.CacheRead)
			all[firstOf(c.model, unknownModel)] = s
		}
		return all
	}
	for r := range tg.responses() {
		r.addTo(all)
	}
	return all
}
