package sessionstore

import "slices"

// refuseWindow returns [ErrWindow] if want is a window of t with messages behind
// it: t ends with messages with which want begins, its first message is not among
// these, and a person wrote before the most that can be meant.
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
	least, most := overlap(t.rows, rows)
	isFirst := func(m Message) bool { return sameBytes(m, t.rows[0]) }
	if least == 0 || slices.ContainsFunc(t.rows[len(t.rows)-least:], isFirst) || countUsers(t.rows[:len(t.rows)-most]) == 0 {
		return nil
	}
	return ErrWindow
}

// overlap returns with how many of its messages old ends, at least and at most, with
// which next begins. Both are 0 where there are none. The first message of old does
// not count. It takes a time that grows with both.
func overlap(old, next []Message) (least, most int) {
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
	for least = at; least > 0 && borders[least-1] > 0; {
		least = borders[least-1]
	}
	return least, at
}

// sameBytes reports whether two messages are written alike.
func sameBytes(a, b Message) bool { return a == b || string(a.m.line()) == string(b.m.line()) }
