package foreign

// preserve finds what the last compaction kept. Where the records do not lead from
// tail back to head, nothing is hung elsewhere.
func (t *table) preserve() {
	b := t.facts.boundary
	if b.head == 0 && b.tail == 0 {
		return
	}
	k := &preserved{head: -1, tail: -1, anchor: -1, boundary: b.last}
	if b.at == b.last {
		k.head, k.tail, k.anchor = t.find(b.head), t.find(b.tail), t.find(b.anchor)
		if !t.leads(k.tail, k.head) {
			return
		}
		for at := k.tail; ; at = t.records.at(at).parent {
			t.records.at(at).flags |= isPreserved
			if at == k.head {
				break
			}
		}
	}
	t.kept = k
}

// leads reports whether the parents of a record lead to another one.
func (t *table) leads(from, to int32) bool {
	for steps := 0; from >= 0 && steps <= t.records.len(); steps++ {
		if from == to {
			return true
		}
		from = t.records.at(from).parent
	}
	return false
}

// dropped reports whether the tool forgets a record.
func (t *table) dropped(at int32) bool {
	return t.kept != nil && at < t.kept.boundary && !t.records.at(at).is(isPreserved)
}

// resumed returns the record before another one in what the tool resumes.
func (t *table) resumed(at int32) int32 {
	p, k := t.records.at(at).parent, t.kept
	if t.records.at(at).is(isGuessed) {
		return -1 // the tool stops there
	}
	if k == nil {
		return p
	}
	switch {
	case at == k.head:
		p = k.anchor
	case p >= 0 && p == k.anchor:
		p = k.tail
	}
	if p >= 0 && t.dropped(p) {
		return -1
	}
	return p
}
