package thread

// Link finds the parent of each record of a file, where the records name it by uuid. No record
// follows a record that shows progress. elsewhere reports whether another file has a record.
func (s *Scanning) Link(elsewhere func(uuid uint64) bool) {
	t, loose := s.Table, s.loose.take()
	t.orderUUIDs()
	missing := false // a parent, or the record that a compaction hides, may be in no file
	for i, at := range t.byUUID {
		missing = missing || t.Records.At(at).Is(IsBoundary)
		if i+1 < len(t.byUUID) && t.Records.At(t.byUUID[i+1]).UUID == t.Records.At(at).UUID {
			t.Records.At(at).Flags |= IsRepeated
		}
	}
	for _, l := range loose {
		p := t.Find(l.Of)
		t.Records.At(l.At).Parent, missing = p, missing || p < 0
	}
	if missing {
		t.guess(loose, elsewhere)
	}
	for _, r := range t.Records.All() { // it follows the last record with that uuid
		if p := r.Parent; p >= 0 && t.Records.At(p).Is(IsRepeated) {
			r.Parent = t.Find(t.Records.At(p).UUID)
		}
	}
	for i, r := range t.Records.All() {
		if p := r.Parent; p >= 0 && t.Records.At(p).Is(IsProgress) {
			t.passProgress(int32(i))
		}
	}
	for _, r := range t.Records.All() {
		if p := r.Parent; p >= 0 && !r.Is(IsProgress|isGuessed) && r.Is(IsSidechain) == t.Records.At(p).Is(IsSidechain) {
			t.Records.At(p).Flags |= HasChild
		}
	}
	if b := t.Facts.Boundary; b.Head != 0 || b.Tail != 0 {
		t.preserve(b)
	}
}

// Follow notes which records have a child, where the records do not name each other.
func (t *Table) Follow() {
	for _, r := range t.Records.All() {
		if r.Parent >= 0 {
			t.Records.At(r.Parent).Flags |= HasChild
		}
	}
}

// passProgress lets a record follow the nearest record that does not show progress. The
// records passed on the way are linked to it, too, so that a long run is walked once.
func (t *Table) passProgress(at int32) {
	p := t.Records.At(at).Parent
	for steps := 0; p >= 0 && t.Records.At(p).Is(IsProgress); steps++ {
		if steps > t.Records.Len() {
			p = -1 // a circle
			break
		}
		p = t.Records.At(p).Parent
	}
	for q := t.Records.At(at).Parent; q >= 0 && q != p && t.Records.At(q).Is(IsProgress); {
		q, t.Records.At(q).Parent = t.Records.At(q).Parent, p
	}
	t.Records.At(at).Parent = p
}

// guess gives each record whose parent is in no file the record before it as its parent,
// and makes each compaction whose hidden record is missing hide the record before it: the
// tool wrote them in that order where it named an existing record. The record before has
// the same sidechain flag and does not follow from the record itself. There is none where a
// line between them is damaged. loose has the records in the order of the file.
func (t *Table) guess(loose []result, elsewhere func(uuid uint64) bool) {
	before := map[bool]int32{false: -1, true: -1} // by sidechain flag: the last record
	steps := 4 * t.Records.Len()                  // the budget of the search for circles
	forward := false                              // a record before this one has a later one as its parent
	for i, r := range t.Records.All() {
		at := int32(i)
		named := uint64(0)
		for len(loose) > 0 && loose[0].At <= at {
			named, loose = loose[0].Of, loose[1:]
		}
		side := r.Is(IsSidechain)
		usable := func() bool {
			return before[side] >= 0 && !(forward && t.follows(before[side], at, &steps))
		}
		switch {
		case r.Is(IsBoundary):
			hid := t.Find(r.Key)
			if hid >= 0 && t.Records.At(hid).Is(IsSidechain) != side {
				hid = -1
			}
			if hid >= 0 && t.follows(hid, at, &steps) { // a fork has the kept record behind the compaction
				hid = -1
			} else if hid < 0 && usable() && !elsewhere(r.Key) {
				hid = before[side]
			}
			r.Key = uint64(hid + 1)
		case named != 0 && r.Parent < 0 && usable() && !elsewhere(named):
			r.Parent, r.Flags = before[side], r.Flags|isGuessed
		}
		forward = forward || r.Parent >= at
		switch {
		case r.Is(isDamaged):
			before[false], before[true] = -1, -1
		case r.UUID != 0:
			before[side] = at
		}
	}
}

// follows reports whether the parents of a record lead to another one, or may lead there:
// it takes its steps from the budget steps.
func (t *Table) follows(from, to int32, steps *int) bool {
	for ; from >= 0 && from != to; *steps-- {
		if *steps <= 0 {
			return true
		}
		from = t.Records.At(from).Parent
	}
	return from == to
}

// preserve finds the records that the last compaction kept. Where the records do not lead
// from tail back to head, nothing is hung elsewhere.
func (t *Table) preserve(b boundaries) {
	k := &preserved{head: -1, tail: -1, anchor: -1, boundary: b.Last}
	if b.At == b.Last {
		k.head, k.tail, k.anchor = t.Find(b.Head), t.Find(b.Tail), t.Find(b.Anchor)
		if steps := t.Records.Len() + 2; k.head < 0 || !t.follows(k.tail, k.head, &steps) || steps == 0 {
			return
		}
		for at := k.tail; ; at = t.Records.At(at).Parent {
			t.Records.At(at).Flags |= isPreserved
			if at == k.head {
				break
			}
		}
	}
	t.kept = k
}

// Preserve notes the last compaction, which kept the records from head to tail. A compaction that
// names itself as head kept none.
func (t *Table) Preserve(compaction int32, head, tail uint64) {
	b := boundaries{Last: compaction, At: compaction, Head: head, Tail: tail, Anchor: t.Records.At(compaction).UUID}
	if head == b.Anchor {
		b.At = -1
	}
	t.preserve(b)
}
