package sessionstore

import "slices"

// refuseWindow returns [ErrWindow] if want is a window of t with messages behind
// it: t ends with messages with which want begins, its first message is not among
// these, and a person wrote before them.
func (tx *transaction) refuseWindow(t *transcript, want []Message) error {
	if t.from != fromMain || !t.main.found || t.damage != nil || t.appendPending || len(t.rows) < 2 {
		return nil
	}
	first := slices.IndexFunc(want, func(m Message) bool { return m.m == nil || m.m.places.role != unstoredRole })
	if first < 0 || want[first] == t.rows[0] || tx.wouldStore(want[first], t.rows[0]) {
		return nil // nothing is stored, or the transcript begins as before
	}
	rows, err := tx.st.storable(want, 0)
	if err != nil {
		return nil // the save says so
	}
	k := len(t.rows) - overlap(t.rows, rows)
	isFirst := func(m Message) bool { return sameBytes(m, t.rows[0]) }
	if k == len(t.rows) || slices.ContainsFunc(t.rows[k:], isFirst) || countUsers(t.rows[:k]) == 0 {
		return nil
	}
	return ErrWindow
}

// overlap returns with how many of its messages old ends, at least, with which next
// begins. It is 0 where there are none, and takes a time that grows with both.
func overlap(old, next []Message) int {
	next = next[:min(len(next), len(old))]
	borders := make([]int, len(next)) // of next[:i+1]: the longest that it begins and ends with
	step := func(at int, m Message) int {
		for at > 0 && (at == len(next) || !sameBytes(next[at], m)) {
			at = borders[at-1]
		}
		if sameBytes(next[at], m) {
			at++
		}
		return at
	}
	for i := 1; i < len(next); i++ {
		borders[i] = step(borders[i-1], next[i])
	}
	at := 0
	for _, m := range old[1:] {
		at = step(at, m)
	}
	for at > 0 && borders[at-1] > 0 {
		at = borders[at-1]
	}
	return at
}

// sameBytes reports whether two messages are written alike.
func sameBytes(a, b Message) bool { return a == b || string(a.m.line()) == string(b.m.line()) }
