package pyjson

import (
	"bytes"
	"iter"
	"slices"
)

// fewMembers is the most members that are compared one by one.
const fewMembers = 24

// merge merges the members of the object at node i as Python's dict does: each name once,
// at its first place and with its last value.
func (w *writer) merge(i int) {
	seen := names{w: w, first: i + 1}
	end := w.tape.node(i).next
	for k := i + 1; k < end; k = w.behind(k) {
		if first, ok := seen.add(k); ok {
			w.tape.node(first).next = k + 1
			w.tape.node(k).flags |= dropped
		}
	}
}

// names holds keys of one object.
type names struct {
	w     *writer
	first int // the first key
	count int
	marks uint64         // of all names
	index map[string]int // keys by name, once there are many
}

// add adds the key k, the next of the object, unless it finds an earlier one of the same name.
func (n *names) add(k int) (first int, found bool) {
	name := n.w.name(k)
	n.count++
	if n.count > fewMembers {
		return n.addIndexed(k, name)
	}
	m := mark(name)
	if n.marks&m == 0 {
		n.marks |= m
		return 0, false
	}
	for first = n.first; first < k; first = n.w.behind(first) {
		if bytes.Equal(n.w.name(first), name) {
			return first, true
		}
	}
	return 0, false
}

func (n *names) addIndexed(k int, name []byte) (first int, found bool) {
	if n.index == nil {
		n.index = make(map[string]int, 4*fewMembers)
		for before := n.first; before < k; before = n.w.behind(before) {
			if n.w.tape.node(before).flags&dropped == 0 {
				n.index[string(n.w.name(before))] = before
			}
		}
	}
	first, found = n.index[string(name)]
	if !found {
		n.index[string(name)] = k
	}
	return first, found
}

// mark returns one bit that equal names share and different names seldom do.
func mark(name []byte) uint64 {
	if len(name) == 0 {
		return 1
	}
	h := uint(len(name)) ^ uint(name[0])*7 ^ uint(name[len(name)-1])*31 ^ uint(name[len(name)/2])*3
	return 1 << (h & 63)
}

// behind returns the node behind the member with the key k.
func (w *writer) behind(k int) int { return w.tape.node(k + 1).next }

// name returns the decoded text of the key k, as it will be written.
func (w *writer) name(k int) []byte {
	n := w.tape.node(k)
	switch {
	case n.flags&renamed != 0:
		return []byte(thinkingText)
	case n.flags&escaped != 0:
		return AppendText(nil, w.b[n.at:n.end])
	}
	return w.b[n.at+1 : n.end-1]
}

// sorted returns the keys of the object at node i in the order of their names.
func (w *writer) sorted(i int) []int {
	var keys []int
	for k := i + 1; k < w.tape.node(i).next; k = w.behind(k) {
		keys = append(keys, k)
	}
	slices.SortStableFunc(keys, func(a, b int) int { return bytes.Compare(w.name(a), w.name(b)) })
	return keys
}

// thinkingText is the member in which the sanitiser keeps the text of a thinking block.
const thinkingText = "thinking_text"

// Pick returns the elements of an array in their order, each with the result of [Values].
// It goes through the text once, where Elements and Values would go twice. The slices
// share arr's memory.
func Pick(arr []byte, names ...string) iter.Seq2[[]byte, [4][]byte] {
	return func(yield func(element []byte, values [4][]byte) bool) {
		i := enter(arr, '[')
		for i < len(arr) {
			var values [4][]byte
			end := i
			if arr[i] == '{' {
				values, end = pick(arr, i, names)
			} else {
				end = skipValue(arr, i)
			}
			if end == i || !yield(arr[i:end], values) {
				return
			}
			i = afterComma(arr, end)
		}
	}
}

// pick returns the values of the object that begins at i, and the index behind it.
func pick(b []byte, i int, names []string) (values [4][]byte, end int) {
	end = i + 1
	for m := range Members(b[i:]) {
		end = i + m.ValueAt + len(m.Value)
		m.among(names, &values)
	}
	if end = skipSpace(b, end); end < len(b) && b[end] == '}' {
		end++
	}
	return values, end
}
