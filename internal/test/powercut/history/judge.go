package history

import (
	"fmt"
	"slices"
)

// A Verdict compares a reader's state with the acknowledged one.
type Verdict struct {
	Acked int    // rows, a number, or that something is gone
	Lost  int    // of these
	What  string // empty: nothing is wrong
	Kind  string // of the last call that was acknowledged
}

// Judge compares the state that a reader found after a cut with the allowed states: the
// state after the last call that was acknowledged before the cut, or after a later one that
// had begun.
func (h *History) Judge(cut int, found State) Verdict {
	if h.Subject.Group {
		return h.judgeGroup(cut, found)
	}
	acked, begun := h.reached(cut)
	if begun < 0 {
		return Verdict{}
	}
	if acked < 0 {
		return Verdict{What: h.madeUp(begun, found)}
	}
	v := Verdict{Kind: h.Calls[acked].Kind, Acked: max(1, len(h.after(acked).Rows))}
	switch ok := h.fits(acked, begun, found); {
	case found.Err != "":
		v.What, v.Lost = "cannot be read", max(1, missing(h.after(acked), found))
	case !ok:
		v.What, v.Lost = h.wrong(acked, found), max(1, missing(h.after(acked), found))
	}
	if was := h.after(acked); h.Subject.transcript() && was.Number != None && !found.Gone {
		v.Acked++
		if !h.fitsNumber(acked, begun, found) {
			v.Lost++
			v.What = join(v.What, fmt.Sprintf("metadata of %d, acknowledged %d", found.Number, was.Number))
		}
	}
	return v
}

// reached returns the last call that was acknowledged before the cut and the
// last that had begun; -1: none.
func (h *History) reached(cut int) (acked, begun int) {
	acked, begun = -1, -1
	for i, c := range h.Calls {
		if c.From <= cut && c.Ended {
			begun = i
		}
		if c.acked(cut) {
			acked = i
		}
	}
	return acked, begun
}

// after returns the state after call i; before the first call nothing is there.
func (h *History) after(i int) State {
	if i < 0 {
		return Gone()
	}
	return h.Calls[i].After
}

// fits reports whether one of the calls from acked to begun leaves the state found.
func (h *History) fits(acked, begun int, found State) bool {
	for i := acked; i <= begun; i++ {
		if h.after(i).same(found) {
			return true
		}
		if !h.Subject.transcript() && h.after(i).empty() && found.empty() {
			return true
		}
	}
	if h.Subject.Relaxed && h.partly(acked, begun, found) {
		return true
	}
	return h.Subject.appends() && h.after(acked).begins(found) && found.begins(h.after(begun))
}

// partly reports whether a call after acked did a part of its work: the rows that are there
// before and after it are there, and some of the rows that it adds.
func (h *History) partly(acked, begun int, found State) bool {
	for i := acked + 1; i <= begun; i++ {
		before, after := h.after(i-1), h.after(i)
		same := 0
		for same < min(len(before.Rows), len(after.Rows)) && before.Rows[same] == after.Rows[same] {
			same++
		}
		if len(found.Rows) >= same && found.begins(after) {
			return true
		}
	}
	return false
}

func (h *History) fitsNumber(acked, begun int, found State) bool {
	for i := acked; i <= begun; i++ {
		if h.after(i).Number == found.Number || h.after(i).Gone {
			return true
		}
	}
	return false
}

// madeUp returns the fault of a state that was found before anything was acknowledged.
// Nothing can be lost then.
func (h *History) madeUp(begun int, found State) string {
	switch {
	case found.Err != "" && h.Subject.Relaxed:
		return ""
	case found.Err != "":
		return "cannot be read, not acknowledged"
	case found.empty(), h.fits(-1, begun, found), h.Subject.appends() && found.begins(h.after(begun)):
		return ""
	case len(found.Rows) == 0 && h.Subject.transcript(): // made, and not written yet
		return ""
	}
	return "rows that no call wrote"
}

// wrong names the fault of the state found.
func (h *History) wrong(acked int, found State) string {
	for i := acked - 1; i >= -1; i-- {
		if h.after(i).same(found) || i < 0 && found.empty() {
			return "old"
		}
	}
	return "torn"
}

// missing returns how many rows of was are not in found.
func missing(was, found State) (n int) {
	for _, r := range was.Rows {
		if !slices.Contains(found.Rows, r) {
			n++
		}
	}
	return n
}

// judgeGroup judges calls that overlap: the rows of each acknowledged call are there once,
// and no rows of calls that had not begun.
func (h *History) judgeGroup(cut int, found State) Verdict {
	v, seen := Verdict{}, map[string]int{}
	for _, r := range found.Rows {
		seen[r]++
	}
	for _, c := range h.Calls {
		if c.acked(cut) {
			v.Kind = c.Kind
			for _, r := range c.After.Rows {
				v.Acked++
				if seen[r] != 1 {
					v.Lost, v.What = v.Lost+1, "missing or twice"
				}
			}
		}
		if c.From <= cut {
			for _, r := range c.After.Rows {
				delete(seen, r)
			}
		}
	}
	if len(seen) > 0 {
		v.What = join(v.What, "rows that no call wrote")
	}
	if found.Err != "" && v.Acked > 0 {
		v.What, v.Lost = "cannot be read", max(v.Lost, 1)
	}
	return v
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}
