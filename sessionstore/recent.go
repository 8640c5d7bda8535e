package sessionstore

import "container/list"

// recent orders ids by their last use and adds up their sizes.
type recent struct {
	total int64
	order list.List // of *sized, the last used in front
	at    map[string]*list.Element
}

type sized struct {
	id   string
	size int64
}

// use makes id the last used one, with this size.
func (r *recent) use(id string, size int64) {
	if e, ok := r.at[id]; ok {
		at := e.Value.(*sized)
		r.total += size - at.size
		at.size = size
		r.order.MoveToFront(e)
		return
	}
	if r.at == nil {
		r.at = map[string]*list.Element{}
	}
	r.total += size
	r.at[id] = r.order.PushFront(&sized{id, size})
}

// drop removes the id that was used longest ago and returns it.
func (r *recent) drop() string {
	id := r.order.Back().Value.(*sized).id
	r.remove(id)
	return id
}

// remove removes id and reports whether it was there.
func (r *recent) remove(id string) bool {
	e, ok := r.at[id]
	if ok {
		r.total -= r.order.Remove(e).(*sized).size
		delete(r.at, id)
	}
	return ok
}

func (r *recent) has(id string) bool {
	_, ok := r.at[id]
	return ok
}

func (r *recent) len() int { return r.order.Len() }
