package sessionstore

// hotSet is the set of the sessions that changed last, no more than limit.
type hotSet struct {
	limit int
	last  recent
}

func newHotSet(limit int) *hotSet { return &hotSet{limit: limit} }

// touch makes id the last that changed. added tells that it was not in the
// set; out is the session that had to leave for it, or "".
func (h *hotSet) touch(id string) (added bool, out string) {
	added = !h.last.has(id)
	if added && h.last.len() == h.limit {
		out = h.last.drop()
	}
	h.last.use(id, 1)
	return added, out
}

// remove takes id out of the set and reports whether it was in it.
func (h *hotSet) remove(id string) bool { return h.last.remove(id) }
