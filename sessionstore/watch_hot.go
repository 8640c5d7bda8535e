package sessionstore

import "container/list"

// hotSet is the set of the sessions that changed last, no more than limit.
type hotSet struct {
	limit int
	order list.List // of string, the one that changed last first
	at    map[string]*list.Element
}

func newHotSet(limit int) *hotSet {
	return &hotSet{limit: limit, at: map[string]*list.Element{}}
}

// touch makes id the last that changed. added tells that it was not in the
// set; out is the session that had to leave for it, or "".
func (r *hotSet) touch(id string) (added bool, out string) {
	if e := r.at[id]; e != nil {
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
func (r *hotSet) remove(id string) bool {
	e := r.at[id]
	if e == nil {
		return false
	}
	r.order.Remove(e)
	delete(r.at, id)
	return true
}
