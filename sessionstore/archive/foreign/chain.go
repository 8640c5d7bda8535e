package foreign

import (
	"errors"
	"iter"
	"slices"
)

// prev returns the record before another one, -1 where there is none.
func (t *table) prev(at int32, s scope) int32 {
	r := t.records.at(at)
	if s == activeLine {
		return t.resumed(at)
	}
	if r.parent < 0 && r.is(isBoundary) {
		return int32(r.key) - 1
	}
	return r.parent
}

// leaf returns the record that a conversation ends with when it goes back from at:
// the nearest one that talks, or the first one that is met of those which tell what
// it used. It is -1 where none talks.
func (t *table) leaf(at int32, s scope) int32 {
	note := int32(-1)
	for steps := 0; at >= 0 && steps <= t.records.len(); steps++ {
		switch r := t.records.at(at); {
		case r.talks() && note >= 0:
			return note
		case r.talks():
			return at
		case r.is(isNote) && note < 0:
			note = at
		}
		at = t.prev(at, s)
	}
	return -1
}

// back returns the lines from the first one to leaf.
func (t *table) back(leaf int32, s scope) []int32 {
	n := 0
	for at := leaf; at >= 0 && n <= t.records.len(); at = t.prev(at, s) {
		n++
	}
	chain := make([]int32, 0, n)
	for at := leaf; at >= 0 && len(chain) < n; at = t.prev(at, s) {
		if len(chain) > 0 && t.records.at(at).is(onLine) {
			break // a circle
		}
		t.records.at(at).flags |= onLine
		chain = append(chain, at)
	}
	for _, at := range chain {
		t.records.at(at).flags &^= onLine
	}
	chain = slices.DeleteFunc(chain, func(at int32) bool { return t.records.at(at).is(isRepeated) }) // see dropRepeated
	slices.Reverse(chain)
	if s == wholeLine {
		return t.withoutSummaries(chain)
	}
	return chain
}

// withoutSummaries drops what stands on a line for what the line has before it:
// the summary of a compaction, and what the compaction took along. Where nobody
// talked before a compaction, the line begins with it.
func (t *table) withoutSummaries(chain []int32) []int32 {
	kept, talked, hidden := chain[:0], false, false
	for _, at := range chain {
		r := t.records.at(at)
		if r.is(isBoundary) {
			hidden = talked
			if !talked {
				kept = kept[:0]
			}
		}
		if r.is(isSummary) && talked || r.is(isCopied) && hidden {
			continue
		}
		talked = talked || r.is(isPerson|isAssistant)
		kept = append(kept, at)
	}
	return kept
}

// leaves returns the ends of all lines, each once and the latest first. Their key is the
// root of their sub-agent; the conversation has the key 0.
func (t *table) leaves(roots roots) map[int32][]int32 {
	all := map[int32][]int32{}
	for i, r := range t.records.all() {
		if r.uuid == 0 || r.is(hasChild|isRepeated|isProgress) {
			continue
		}
		if at := t.leaf(int32(i), t.scope); at >= 0 && roots.of(at) == roots.of(int32(i)) {
			all[roots.of(at)] = append(all[roots.of(at)], at)
		}
	}
	for root, leaves := range all {
		slices.Sort(leaves)
		all[root] = slices.Compact(leaves)
		slices.Reverse(all[root])
	}
	return all
}

// conversation returns the line that the tool would resume, or that of a sub-agent: it
// ends where the format says, or else with the latest of the leaves that no team and not
// the tool itself wrote, or else with the latest of all, as that of a sub-agent does.
func (t *table) conversation(leaves []int32, s scope) []int32 {
	at := t.last(leaves, s)
	if at < 0 {
		return nil
	}
	return t.back(at, s)
}

// last returns the record that the conversation ends with, -1 where there is none.
func (t *table) last(leaves []int32, s scope) int32 {
	if at := t.leaf(t.end, s); at >= 0 {
		return at
	}
	if len(leaves) == 0 {
		return -1
	}
	if i := slices.IndexFunc(leaves, func(at int32) bool { return !t.records.at(at).is(isSide) || t.records.at(at).is(isSidechain) }); i >= 0 {
		return leaves[i]
	}
	return leaves[0]
}

// walk yields the records from one to the first one. It ends in a circle when it has
// yielded as many as there are.
func (t *table) walk(from int32, s scope) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		at := from
		for steps := 0; at >= 0 && steps < t.records.len() && yield(at); steps++ {
			at = t.prev(at, s)
		}
	}
}

// branches finds the lines that have an answer, and a prompt which neither chain nor
// another of them has. One that ends ahead of the offset copied, where the last copy of
// the file begins, needs no such prompt: its answer is the other copy's. branches returns
// their leaves with the first such prompt of each, how many leaves have none, and the
// prompts that are on none of the lines.
func (t *table) branches(chain, leaves []int32, copied int64) (found []branch, others int, left []unplaced) {
	prompts := map[uint64]bool{}
	if len(leaves) == 1 && len(chain) > 0 && chain[len(chain)-1] == leaves[0] {
		prompts = nil // there is no other line, as almost always
	}
	t.cover(chain, prompts)
	var open []int32 // leaves of lines without an answer: another line may have all that they have
	for _, leaf := range leaves {
		if t.records.at(leaf).is(isCovered) {
			continue
		}
		first, begin, from, answered := int32(-1), leaf, len(left), false
		for at := range t.uncovered(leaf) {
			r := t.records.at(at)
			begin = at
			answered = answered || r.is(isAssistant) && !r.is(isThought) && !t.isShown(at)
			switch {
			case r.is(isPrompt|isQueued) && prompts[r.key]:
				left = append(left, unplaced{at, errSameText})
			case r.is(isPrompt|isQueued) || r.is(isMistyped) && first >= 0 && !prompts[r.key]:
				first = at
			}
		}
		if !answered {
			open, left = append(open, leaf), left[:from]
			continue
		}
		t.coverFrom(leaf, prompts)
		if first < 0 && t.records.at(leaf).offset < copied {
			first = begin
		}
		if first < 0 {
			others++
			continue
		}
		left = left[:from]
		found = append(found, branch{leaf, first})
	}
	for _, leaf := range open {
		before := len(left)
		for at := range t.uncovered(leaf) {
			r, why := t.records.at(at), errNoAnswer
			if prompts[r.key] {
				why = errSameText
			}
			if r.is(isPrompt | isQueued | isMistyped) {
				r.flags |= isTakenBack
			}
			if r.is(isPrompt | isQueued) {
				left = append(left, unplaced{at, why})
			}
		}
		if before == len(left) && !t.records.at(leaf).is(isCovered) {
			others++
		}
		t.coverFrom(leaf, prompts)
	}
	return found, others, left
}

// circles returns the prompts that no leaf leads to.
func (t *table) circles() (left []unplaced) {
	for i, r := range t.records.all() {
		if r.is(isPrompt|isQueued) && !r.is(isCovered|isRepeated|isCopied) {
			left = append(left, unplaced{int32(i), errCircle})
		}
	}
	return left
}

// isShown reports whether a part of a response only calls, and a line that became a
// session has another part of it: that session has the calls, too, see gather.
func (t *table) isShown(at int32) bool {
	r := t.records.at(at)
	if !r.is(isCall) {
		return false
	}
	parts := t.withKey(r.key)
	return slices.ContainsFunc(parts[:min(len(parts), maxSiblings)], func(other int32) bool {
		o := t.records.at(other)
		return o.is(isCovered) && o.is(isSidechain) == r.is(isSidechain)
	})
}

// uncovered yields the records from one back to the first that is on a line that became
// a session, or that stands elsewhere, too.
func (t *table) uncovered(leaf int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for at := range t.walk(leaf, t.scope) {
			if t.records.at(at).is(isCovered|isRepeated) || !yield(at) {
				return
			}
		}
	}
}

// unplaced is a prompt that is on no line.
type unplaced struct {
	at  int32
	why error
}

var (
	errSameText = errors.New("the prompt is on a branch where all prompts have the text of one in the conversation")
	errNoAnswer = errors.New("the prompt has no answer: it is kept in the original alone")
	errCircle   = errors.New("the prompt is on no branch: its lines follow each other in a circle")
)

// branch is a line beside the conversation.
type branch struct{ leaf, prompt int32 }

func (t *table) cover(chain []int32, prompts map[uint64]bool) {
	for _, at := range chain {
		r := t.records.at(at)
		r.flags |= isCovered
		if r.is(isPrompt|isQueued|isMistyped) && prompts != nil {
			prompts[r.key] = true
		}
	}
}

func (t *table) coverFrom(at int32, prompts map[uint64]bool) {
	for at >= 0 && !t.records.at(at).is(isCovered) {
		t.cover([]int32{at}, prompts)
		at = t.prev(at, t.scope)
	}
}

// roots has for each record of a sub-agent whose lines stand in the file of its session
// 1 more than the first record of that, and 0 for others. It is nil where there are none,
// as in the file of a sub-agent.
type roots []int32

func (r roots) of(at int32) int32 {
	if r == nil {
		return 0
	}
	return r[at]
}

// roots finds the roots of the records.
func (t *table) roots() (found roots) {
	for i, r := range t.records.all() {
		if r.uuid == 0 || !r.is(isSidechain) {
			continue
		}
		if found == nil {
			found = make(roots, t.records.len())
		}
		t.root(int32(i), found)
	}
	return found
}

// root finds the root of a record. known has those that were found before.
func (t *table) root(at int32, known roots) {
	root := at
	for steps := 0; steps <= t.records.len(); steps++ {
		if known[root] > 0 {
			root = known[root] - 1
			break
		}
		p := t.records.at(root).parent
		if p < 0 || !t.records.at(p).is(isSidechain) {
			break
		}
		root = p
	}
	known[at] = root + 1
}
