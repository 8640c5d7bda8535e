package pyjson

import (
	"bytes"
	"math"
	"slices"
)

// Append appends the value raw as json.dumps writes what json.loads reads from it: of members of one name the last
// value at the place of the first, integers digit by digit, floats as [AppendFloat] does. It accepts what Check accepts
// in either dialect. Its error is an [*Error], with the place of what s refuses; dst is returned unchanged then.
func Append(dst, raw []byte, s Style) ([]byte, error) {
	var t tape
	w := writer{b: raw, tape: &t, style: s}
	if err := w.read(); err != nil {
		return dst, err
	}
	return w.finish(dst, w.value(slices.Grow(dst, w.size()), 0, 0, unlimited))
}

// value appends the value of node i, which stands in depth containers; the sanitiser leaves it span levels, itself
// included.
func (w *writer) value(dst []byte, i, depth, span int) []byte {
	n := w.tape.node(i)
	switch w.b[n.at] {
	case '"':
		return w.str(dst, n)
	case '{':
		return w.object(dst, i, depth+1, span)
	case '[':
		return w.array(dst, i, depth+1, span)
	case 't', 'f', 'n':
		return append(dst, w.b[n.at:n.end]...)
	}
	return w.number(dst, n)
}

func (w *writer) str(dst []byte, n *node) []byte {
	raw := w.b[n.at:n.end]
	if n.flags&w.rewritten == 0 && !(w.style.ASCII && bytes.IndexByte(raw, del) >= 0) {
		return append(dst, raw...)
	}
	dst = append(dst, '"')
	dst = appendString(dst, inner(raw), n.flags, w.style)
	return append(dst, '"')
}

func (w *writer) number(dst []byte, n *node) []byte {
	raw := w.b[n.at:n.end]
	if !isFloat(raw) {
		if string(raw) == "-0" {
			raw = raw[1:]
		}
		return append(dst, raw...)
	}
	f := parseFloat(raw)
	if w.style.Finite && (math.IsInf(f, 0) || math.IsNaN(f)) {
		w.refuse(n, notFinite)
	}
	if w.style.KeepBig && math.IsInf(f, 0) {
		return append(dst, raw...)
	}
	return AppendFloat(dst, f)
}

func (w *writer) array(dst []byte, i, depth, span int) []byte {
	if !w.fits(i, depth) {
		return dst
	}
	dst = append(dst, '[')
	count := 0
	end := w.tape.node(i).next
	for k := i + 1; k < end; k = w.tape.node(k).next {
		if w.removed(k, span) {
			continue
		}
		dst = w.separate(dst, count, depth)
		dst = w.value(dst, k, depth, within(span))
		count++
	}
	return w.close(dst, ']', count, depth)
}

func (w *writer) object(dst []byte, i, depth, span int) []byte {
	if !w.fits(i, depth) {
		return dst
	}
	w.merge(i)
	return w.members(dst, i, depth, span)
}

// members appends the object at node i, whose members are merged.
func (w *writer) members(dst []byte, i, depth, span int) []byte {
	dst = append(dst, '{')
	count := 0
	if w.style.SortKeys {
		for _, k := range w.sorted(i) {
			dst, count = w.member(dst, k, count, depth, span)
		}
	} else {
		end := w.tape.node(i).next
		for k := i + 1; k < end; k = w.behind(k) {
			dst, count = w.member(dst, k, count, depth, span)
		}
	}
	return w.close(dst, '}', count, depth)
}

// member appends the member with the key k behind count others, unless it is dropped or removed.
func (w *writer) member(dst []byte, k, count, depth, span int) ([]byte, int) {
	key := w.tape.node(k)
	if key.flags&whole != 0 {
		span = unlimited
	}
	if key.flags&dropped != 0 || w.removed(key.next, span) {
		return dst, count
	}
	dst = w.separate(dst, count, depth)
	dst = w.key(dst, key)
	if w.style.Redact && isSecret(w.name(k)) {
		return append(dst, redacted...), count + 1
	}
	return w.value(dst, key.next, depth, within(span)), count + 1
}

func (w *writer) key(dst []byte, n *node) []byte {
	if n.flags&renamed != 0 {
		dst = append(dst, `"`+thinkingText+`"`...)
	} else {
		dst = w.str(dst, n)
	}
	if w.style.Compact {
		return append(dst, ':')
	}
	return append(dst, ':', ' ')
}
