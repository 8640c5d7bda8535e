package thread

import (
	"errors"
	"iter"
	"slices"
)

// prev returns the record before another one, -1 where there is none.
func (t *Table) prev(at int32, s Scope) int32 {
	r, k := t.Records.At(at), t.kept
	p := r.Parent
	switch {
	case s == WholeLine && p < 0 && r.Is(IsBoundary):
		return int32(r.Key) - 1
	case s == WholeLine || k == nil && !r.Is(isGuessed):
		return p
	case r.Is(isGuessed):
		return -1 // the tool stops there
	case at == k.head:
		p = k.anchor
	case p >= 0 && p == k.anchor:
		p = k.tail
	}
	if p >= 0 && p < k.boundary && !t.Records.At(p).Is(isPreserved) {
		return -1 // the tool forgets it
	}
	return p
}

// leaf returns the record that a conversation ends with when it goes back from at: the
// nearest record that talks, or the first note met before it, which records usage. It is -1
// where no record talks.
func (t *Table) leaf(at int32, s Scope) int32 {
	note := int32(-1)
	for at := range t.Walk(at, s) {
		switch r := t.Records.At(at); {
		case r.talks() && note >= 0:
			return note
		case r.talks():
			return at
		case r.Is(IsNote) && note < 0:
			note = at
		}
	}
	return -1
}

// Back returns the lines from the first one to leaf.
func (t *Table) Back(leaf int32, s Scope) []int32 {
	n := 0
	for range t.Walk(leaf, s) {
		n++
	}
	chain := make([]int32, 0, n)
	for at := range t.Walk(leaf, s) {
		if t.Records.At(at).Is(onLine) {
			break // a circle
		}
		t.Records.At(at).Flags |= onLine
		chain = append(chain, at)
	}
	flags := Flags(0)
	for _, at := range chain {
		t.Records.At(at).Flags &^= onLine
		flags |= t.Records.At(at).Flags
	}
	chain = slices.DeleteFunc(chain, func(at int32) bool { return t.Records.At(at).Is(IsRepeated) }) // see dropRepeated
	slices.Reverse(chain)
	if s == WholeLine && flags&(IsBoundary|IsSummary|IsCopied) != 0 {
		return t.withoutSummaries(chain)
	}
	return chain
}

// withoutSummaries drops the records of a line that only repeat earlier ones on it: the
// summary of a compaction, and the records that the compaction took along. If a compaction
// has no message before it, the line begins with the compaction.
func (t *Table) withoutSummaries(chain []int32) []int32 {
	kept, talked, hidden := chain[:0], false, false
	for _, at := range chain {
		r := t.Records.At(at)
		if r.Is(IsBoundary) {
			hidden = talked
			if !talked {
				kept = kept[:0]
			}
		}
		if r.Is(IsSummary) && talked || r.Is(IsCopied) && hidden {
			continue
		}
		talked = talked || r.Is(IsPerson|IsAssistant)
		kept = append(kept, at)
	}
	return kept
}

// Leaves returns the ends of all lines, each once and the latest first. Their key is the
// root of their sub-agent; the conversation has the key 0.
func (t *Table) Leaves(roots Roots) map[int32][]int32 {
	all := map[int32][]int32{}
	for i, r := range t.Records.All() {
		if r.UUID == 0 || r.Is(HasChild|IsRepeated|IsProgress) {
			continue
		}
		root, at := int32(0), t.leaf(int32(i), t.Scope)
		if roots != nil {
			root = roots[i]
		}
		if at >= 0 && (roots == nil || roots[at] == root) {
			all[root] = append(all[root], at)
		}
	}
	for root, leaves := range all {
		slices.Sort(leaves)
		all[root] = slices.Compact(leaves)
		slices.Reverse(all[root])
	}
	return all
}

// Conversation returns the line that the tool would resume, or the line of a sub-agent. It
// ends where the format says, or else with the latest of the leaves that neither a team nor
// the tool itself wrote, or else, as for a sub-agent, with the latest leaf of all.
func (t *Table) Conversation(leaves []int32, s Scope) []int32 {
	at := t.leaf(t.End, s)
	if at < 0 && len(leaves) > 0 {
		inFront := func(at int32) bool { return !t.Records.At(at).Is(IsSide) || t.Records.At(at).Is(IsSidechain) }
		at = leaves[max(0, slices.IndexFunc(leaves, inFront))]
	}
	return t.Back(at, s)
}

// Walk yields the records from one to the first one. It ends in a circle when it has
// yielded as many as there are.
func (t *Table) Walk(from int32, s Scope) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		at := from
		for steps := 0; at >= 0 && steps < t.Records.Len() && yield(at); steps++ {
			at = t.prev(at, s)
		}
	}
}

// Branches finds the lines that have an answer, and a prompt which neither chain nor
// another of them has. A line that ends ahead of the offset copied, where the last copy of
// the file begins, needs no such prompt: its answer is the other copy's. Branches returns
// their leaves with the first such prompt of each, how many leaves have none, and the
// prompts that are on none of the lines.
func (t *Table) Branches(chain, leaves []int32, copied int64) (found []branch, others int, left []Unplaced) {
	prompts := map[uint64]bool{}
	t.Cover(chain, prompts)
	var open []int32 // leaves of lines without an answer: another line may have all that they have
	for _, leaf := range leaves {
		if t.Records.At(leaf).Is(isCovered) {
			continue
		}
		first, begin, from, answered := int32(-1), leaf, len(left), false
		for at := range t.uncovered(leaf) {
			r := t.Records.At(at)
			begin = at
			answered = answered || r.Is(IsAssistant) && !r.Is(IsThought) && !t.isShown(at)
			switch {
			case r.Is(IsPrompt|IsQueued) && prompts[r.Key]:
				left = append(left, Unplaced{at, errSameText})
			case r.Is(IsPrompt | IsQueued):
				first = at
			}
		}
		if !answered {
			open, left = append(open, leaf), left[:from]
			continue
		}
		t.coverFrom(leaf, prompts)
		if first < 0 && t.Records.At(leaf).Offset < copied {
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
			r, why := t.Records.At(at), errNoAnswer
			if prompts[r.Key] {
				why = errSameText
			}
			if r.Is(IsPrompt | IsQueued | IsMistyped) {
				r.Flags |= IsTakenBack
			}
			if r.Is(IsPrompt | IsQueued) {
				left = append(left, Unplaced{at, why})
			}
		}
		if before == len(left) && !t.Records.At(leaf).Is(isCovered) {
			others++
		}
		t.coverFrom(leaf, prompts)
	}
	return found, others, left
}

// Circles returns the prompts that no leaf leads to, or whose id a later record has that says something else.
func (t *Table) Circles() (left []Unplaced) {
	for i, r := range t.Records.All() {
		switch {
		case !r.Is(IsPrompt|IsQueued) || r.Is(isCovered|IsCopied):
		case !r.Is(IsRepeated):
			left = append(left, Unplaced{int32(i), errCircle})
		case t.Records.At(t.Find(r.UUID)).Key != r.Key:
			left = append(left, Unplaced{int32(i), errSameID})
		}
	}
	return left
}

// isShown reports whether a part of a response only calls, and a line that became a
// session has another part of it: that session has the calls, too, see gather.
func (t *Table) isShown(at int32) bool {
	r := t.Records.At(at)
	if !r.Is(IsCall) {
		return false
	}
	parts := t.withKey(r.Key)
	return slices.ContainsFunc(parts[:min(len(parts), maxSiblings)], func(other int32) bool {
		o := t.Records.At(other)
		return o.Is(isCovered) && o.Is(IsSidechain) == r.Is(IsSidechain)
	})
}

// uncovered yields the records from one back to the first that is on a line that became a
// session, or that a later line repeats.
func (t *Table) uncovered(leaf int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for at := range t.Walk(leaf, t.Scope) {
			if t.Records.At(at).Is(isCovered|IsRepeated) || !yield(at) {
				return
			}
		}
	}
}

// Unplaced is a prompt that is on no line.
type Unplaced struct {
	At  int32
	Why error
}

var (
	errSameText = errors.New("the prompt is on a branch where all prompts have the text of one in the conversation")
	errNoAnswer = errors.New("the prompt has no answer: it is kept in the original alone")
	errCircle   = errors.New("the prompt is on no branch: its lines follow each other in a circle")
	errSameID   = errors.New("the prompt is on no branch: a later record has its id")
)

// branch is a line beside the conversation.
type branch struct{ Leaf, Prompt int32 }

// Cover marks the records of a line that became a session, and keeps its prompts in a set that
// is not nil.
func (t *Table) Cover(chain []int32, prompts map[uint64]bool) {
	for _, at := range chain {
		r := t.Records.At(at)
		r.Flags |= isCovered
		if r.Is(IsPrompt|IsQueued) && prompts != nil {
			prompts[r.Key] = true
		}
	}
}

func (t *Table) coverFrom(at int32, prompts map[uint64]bool) {
	for at >= 0 && !t.Records.At(at).Is(isCovered) {
		t.Cover([]int32{at}, prompts)
		at = t.prev(at, t.Scope)
	}
}

// Roots has 1 more than the first record of the sub-agent for each record of a sub-agent
// whose lines are in the file of its session, and 0 for others. It is nil where there are
// none, as in the file of a sub-agent.
type Roots []int32

// Roots finds the roots of the records.
func (t *Table) Roots() (found Roots) {
	for i, r := range t.Records.All() {
		if r.UUID == 0 || !r.Is(IsSidechain) {
			continue
		}
		if found == nil {
			found = make(Roots, t.Records.Len())
		}
		t.root(int32(i), found)
	}
	return found
}

// root finds the root of a record. known has those that were found before.
func (t *Table) root(at int32, known Roots) {
	root := at
	for steps := 0; steps <= t.Records.Len(); steps++ {
		if known[root] > 0 {
			root = known[root] - 1
			break
		}
		p := t.Records.At(root).Parent
		if p < 0 || !t.Records.At(p).Is(IsSidechain) {
			break
		}
		root = p
	}
	known[at] = root + 1
}

// Prompts counts the prompts of a line.
func (t *Table) Prompts(chain []int32) (n int) {
	for _, at := range chain {
		if t.Records.At(at).Is(IsPerson) {
			n++
		}
	}
	return n
}

// IsExport reports whether an export made all messages of a line.
func (t *Table) IsExport(chain []int32) bool {
	return !slices.ContainsFunc(chain, func(at int32) bool { return t.Records.At(at).talks() && !t.IsMarked(at) })
}
