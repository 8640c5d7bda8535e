package pyjson

import (
	"bytes"
	"slices"
)

// AppendMessage appends the chat message raw, an object, as the reference stores it:
// sanitised, in one line. The rules for members of the message itself: content_blocks is
// left out; thinking_block becomes thinking_text with the block's text as it is, null and
// all, or is left out when it is no object with a text; when a message has thinking_text
// too, the first of both has the place and the last the value, but a null thinking_text
// is ignored. Elsewhere nulls are removed from objects and arrays, and so is everything
// in more than 50 containers, the message not counted. Everything else is as in [Append].
// Roles are not read. Its error is an [*Error]; dst is returned unchanged then.
func AppendMessage(dst, raw []byte, s Style) ([]byte, error) {
	s.Indent = 0
	var t tape
	w := writer{b: raw, tape: &t, style: s}
	if err := w.read(); err != nil {
		return dst, err
	}
	if at := t.node(0).at; raw[at] != '{' {
		return dst, notObject.at(at, raw)
	}
	w.merge(0)
	w.fields()
	return w.finish(dst, w.members(slices.Grow(dst, w.size()), 0, 1, 1+fieldSpan))
}

// fields decides about the members of a message that the sanitiser treats specially.
func (w *writer) fields() {
	var first *node // the key of thinking_text, or of the member that became it
	for k := 1; k < w.tape.node(0).next; k = w.behind(k) {
		key := w.tape.node(k)
		if key.flags&dropped != 0 {
			continue
		}
		switch string(w.name(k)) {
		case "content_blocks":
			key.flags |= dropped
		case "thinking_block":
			w.thinkingBlock(key)
			first = mergeThinking(first, key)
		case thinkingText:
			if w.b[w.tape.node(key.next).at] == 'n' {
				key.flags |= dropped
			}
			first = mergeThinking(first, key)
		}
	}
}

// thinkingBlock makes a thinking_block a thinking_text.
func (w *writer) thinkingBlock(key *node) {
	if text, ok := w.lookup(key.next, "text"); ok {
		key.next = text
		key.flags |= renamed | whole
	} else {
		key.flags |= dropped
	}
}

// mergeThinking lets the first of two thinking texts have the value of the second, and returns the first.
func mergeThinking(first, second *node) *node {
	switch {
	case second.flags&dropped != 0:
		return first
	case first == nil:
		return second
	}
	first.next = second.next
	first.flags = first.flags&^whole | second.flags&whole
	second.flags |= dropped
	return first
}

// lookup returns the last value called name of the object at node i.
func (w *writer) lookup(i int, name string) (value int, ok bool) {
	object := w.tape.node(i)
	if w.b[object.at] != '{' {
		return 0, false
	}
	for k := i + 1; k < object.next; k = w.behind(k) {
		if string(w.name(k)) == name {
			value, ok = k+1, true
		}
	}
	return value, ok
}

// Paired returns raw with U+FFFD for the halves of surrogate pairs, and reports
// whether it had any. Else, and where raw is no value that json.loads accepts, it
// returns raw itself.
func Paired(raw []byte) (paired []byte, had bool) {
	if !bytes.Contains(raw, []byte(`\ud`)) && !bytes.Contains(raw, []byte(`\uD`)) {
		return raw, false
	}
	if Check(raw, Tolerant) != nil {
		return raw, false
	}
	same, err := Append(nil, raw, Style{})
	if err != nil {
		return raw, false
	}
	paired, err = Append(nil, raw, Style{Replace: true})
	if err != nil || bytes.Equal(same, paired) {
		return raw, false
	}
	return paired, true
}

// Canonical returns the value raw as Python writes it, without the white space and the escapes
// of its writer; raw itself where it is no value.
func Canonical(raw []byte) []byte {
	text, err := Append(nil, raw, Style{})
	if err != nil {
		return raw
	}
	return text
}

// HasSurrogate reports whether JSON that this package wrote holds a lone surrogate. It writes
// those as \ud…, and no other escape so.
func HasSurrogate(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+2 >= len(text) {
			return false
		}
		if text[i+1] == 'u' && text[i+2] == 'd' {
			return true
		}
		text = text[i+2:]
	}
}

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
