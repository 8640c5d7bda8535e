package watch

import "container/list"

// recentSet holds the ids that were used last, no more than limit.
type recentSet struct {
	limit int
	order list.List // of string, the last used in front
	at    map[string]*list.Element
}

func newRecentSet(limit int) *recentSet {
	return &recentSet{limit: limit, at: map[string]*list.Element{}}
}

// use makes id the last that was used. added tells that it was not in the
// set; out is the id that had to leave for it, or "".
func (r *recentSet) use(id string) (added bool, out string) {
	if e, ok := r.at[id]; ok {
		r.order.MoveToFront(e)
		return false, ""
	}
	if r.order.Len() == r.limit {
		out = r.order.Back().Value.(string)
		r.remove(out)
	}
	r.at[id] = r.order.PushFront(id)
	return true, out
}

// remove takes id out of the set and reports whether it was in it.
func (r *recentSet) remove(id string) bool {
	e, ok := r.at[id]
	if ok {
		r.order.Remove(e)
		delete(r.at, id)
	}
	return ok
}
