package pyjson

import "slices"

// thinkingText is the member in which the sanitiser keeps what it takes from a thinking block, thinkingKey stands for
// its key where the message has none.
const (
	thinkingText = "thinking_text"
	thinkingKey  = -1
)

// AppendMessage appends the chat message raw, an object, as the reference stores it: sanitised, in one line. The rules
// for members of the message itself: content_blocks is left out; thinking_block becomes thinking_text with the block's
// text as it is, null and all, or is left out when it is no object with a text; when a message has thinking_text too,
// the first of both has the place and the last the value, but a null thinking_text is ignored. Elsewhere nulls are
// removed from objects and arrays, and so is everything in more than 50 containers, the message not counted. All else is
// as in [Append]. Roles are not looked at. Its error is an [*Error]; dst is returned unchanged then.
func AppendMessage(dst, raw []byte, s Style) ([]byte, error) {
	var nodes [128]node
	var pairs [32]pair
	s.Indent = 0
	w := writer{style: s, pairs: pairs[:0]}
	if err := w.read(raw, nodes[:0]); err != nil {
		return dst, err
	}
	if w.b[w.nodes[0].at] != '{' {
		return dst, notObject.at(w.nodes[0].at, raw)
	}
	return w.finish(dst, w.message(slices.Grow(dst, w.size())))
}

// message appends the whole value as a message.
func (w *writer) message(dst []byte) []byte {
	w.collect(0)
	kept := w.pairs[:0]
	thinking := -1 // index of thinking_text in kept
	for _, p := range w.pairs {
		p, ok := w.field(p)
		switch {
		case !ok:
		case string(p.name) != thinkingText:
			kept = append(kept, p)
		case thinking < 0:
			thinking = len(kept)
			kept = append(kept, p)
		default:
			kept[thinking].value, kept[thinking].raw = p.value, p.raw
		}
	}
	w.pairs = kept
	return w.members(dst, 0, 1, fieldSpan)
}

// field returns the member of a message as it is to be written, and whether it is to be written at all.
func (w *writer) field(p pair) (pair, bool) {
	switch string(p.name) {
	case "content_blocks":
		return p, false
	case "thinking_block":
		text := w.lookup(p.value, "text")
		return pair{name: []byte(thinkingText), key: thinkingKey, value: text, raw: true}, text > 0
	}
	return p, w.b[w.nodes[p.value].at] != 'n'
}

// lookup returns the node of the last value called name of the object at node i, 0 if there is none.
func (w *writer) lookup(i int, name string) (value int) {
	if w.b[w.nodes[i].at] != '{' {
		return 0
	}
	for k := i + 1; k < w.nodes[i].next; k = w.nodes[k+1].next {
		if KeyIs(w.b[w.nodes[k].at:w.nodes[k].end], name) {
			value = k + 1
		}
	}
	return value
}
