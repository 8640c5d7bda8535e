package pyjson

import "bytes"

// fewMembers is up to how many members are compared one by one.
const fewMembers = 24

// collect appends the members of the object at node i to w.pairs as Python's dict holds them: each name once, at its
// first place and with its last value.
func (w *writer) collect(i int) {
	first := len(w.pairs)
	var index map[string]int // of pairs by name, once there are many
	for k := i + 1; k < w.nodes[i].next; {
		p := pair{name: w.name(k), key: k, value: k + 1}
		k = w.nodes[p.value].next
		if index == nil && len(w.pairs)-first == fewMembers {
			index = w.index(first)
		}
		if at := w.find(first, p.name, index); at >= 0 {
			w.pairs[at].value = p.value
			continue
		}
		if index != nil {
			index[string(p.name)] = len(w.pairs)
		}
		w.pairs = append(w.pairs, p)
	}
}

// find returns the index of the pair called name from first on, or -1.
func (w *writer) find(first int, name []byte, index map[string]int) int {
	if index != nil {
		if at, ok := index[string(name)]; ok {
			return at
		}
		return -1
	}
	for at := first; at < len(w.pairs); at++ {
		if bytes.Equal(w.pairs[at].name, name) {
			return at
		}
	}
	return -1
}

func (w *writer) index(first int) map[string]int {
	index := make(map[string]int, 4*fewMembers)
	for at := first; at < len(w.pairs); at++ {
		index[string(w.pairs[at].name)] = at
	}
	return index
}

// name returns the decoded text of the key at node k.
func (w *writer) name(k int) []byte {
	n := &w.nodes[k]
	if n.flags&escaped == 0 {
		return w.b[n.at+1 : n.end-1]
	}
	return AppendText(nil, w.b[n.at:n.end])
}
