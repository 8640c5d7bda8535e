package pyjson

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// Append appends the value raw as json.dumps(json.loads(raw)) writes it: of members of
// one name the last value at the place of the first, integers digit by digit, floats as
// [AppendFloat] does. It accepts the texts that Check accepts in either dialect. Its
// error is an [*Error], with the place of the value that s refuses; then dst is returned
// unchanged.
func Append(dst, raw []byte, s Style) ([]byte, error) {
	var t tape
	w := writer{b: raw, tape: &t, style: s}
	if err := w.read(); err != nil {
		return dst, err
	}
	return w.finish(dst, w.value(slices.Grow(dst, w.size()), 0, 0, unlimited))
}

// value appends the value of node i, which is inside depth containers; the sanitiser
// leaves it span levels, itself included.
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

// AppendFloat appends f as Python's repr and json.dumps write it: the shortest digits that read back as f, without an
// exponent from 1e-4 up to 1e16; also NaN, Infinity and -Infinity.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	begin := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[begin:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// exactLen is the greatest length of a float that strconv reads exactly: it stops
// counting exponents at 10000.
const exactLen = 4000

// parseFloat reads a float as Python does: too large is infinite, too small is zero.
func parseFloat(raw []byte) float64 {
	if len(raw) > exactLen {
		raw = shorten(raw)
	}
	f, _ := strconv.ParseFloat(string(raw), 64) // an overflow gives an infinity and an error
	return f
}

// shorten rewrites a long float as 0.DIGITSeN, so that only an exponent that decides the value by itself is large.
func shorten(raw []byte) []byte {
	mantissa, exponent := raw, 0
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		mantissa, exponent = raw[:i], clampedInt(raw[i+1:])
	}
	out := make([]byte, 0, len(mantissa)+16)
	if mantissa[0] == '-' {
		out, mantissa = append(out, '-'), mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := append(bytes.Clone(whole), fraction...)
	significant := bytes.TrimLeft(digits, "0")
	if len(significant) == 0 {
		return append(out, '0')
	}
	exponent += len(whole) - (len(digits) - len(significant))
	out = append(append(out, "0."...), significant...)
	return strconv.AppendInt(append(out, 'e'), int64(min(max(exponent, -9999), 9999)), 10)
}

// clampedInt reads a signed integer of any length, limited so that the length of a text
// can be added.
func clampedInt(raw []byte) int {
	const limit = math.MaxInt / 2
	n, err := strconv.Atoi(string(raw))
	if err != nil && raw[0] == '-' {
		return -limit
	} else if err != nil {
		return limit
	}
	return min(max(n, -limit), limit)
}
