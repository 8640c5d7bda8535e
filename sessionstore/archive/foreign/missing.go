package foreign

// guess gives each record whose parent is in no file the record before it as its parent,
// and each compaction the record before it as what it hid: the tool wrote them so where
// it named one that is there. It is a record of the same sidechain flag, never one that
// follows from the record itself, and none where a line between them is damaged or a copy
// of the file begins. loose has the records in the order of the file.
func (t *table) guess(loose []result, copies []int64, elsewhere func(uuid uint64) bool) {
	before := map[bool]int32{false: -1, true: -1} // by sidechain flag: the last record
	steps := 4 * t.records.len()                  // what the search for circles may take
	forward := false                              // a record before this one has a later one as its parent
	for i, r := range t.records.all() {
		for len(copies) > 0 && r.offset >= copies[0] {
			before[false], before[true], copies = -1, -1, copies[1:]
		}
		at := int32(i)
		named := uint64(0)
		for len(loose) > 0 && loose[0].at <= at {
			named, loose = loose[0].call, loose[1:]
		}
		side := r.is(isSidechain)
		usable := func() bool {
			return before[side] >= 0 && !(forward && t.follows(before[side], at, &steps))
		}
		switch {
		case r.is(isBoundary):
			hid := t.find(r.key)
			if hid < 0 && usable() && !elsewhere(r.key) {
				hid = before[side]
			}
			r.key = uint64(hid + 1)
		case named != 0 && r.parent < 0 && usable() && !elsewhere(named):
			r.parent, r.flags = before[side], r.flags|isGuessed
		}
		forward = forward || r.parent >= at
		switch {
		case r.is(isDamaged):
			before[false], before[true] = -1, -1
		case r.uuid != 0:
			before[side] = at
		}
	}
}

// follows reports whether the parents of a record lead to another one, or may lead
// there: it takes from steps what it needs.
func (t *table) follows(from, to int32, steps *int) bool {
	for ; from >= 0 && from != to; *steps-- {
		if *steps <= 0 {
			return true
		}
		from = t.records.at(from).parent
	}
	return from == to
}
