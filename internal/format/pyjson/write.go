package pyjson

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// writer writes a scanned value.
type writer struct {
	b         []byte
	tape      *tape
	style     Style
	rewritten flags // strings with these flags are written anew

	problem problem // the first
	failed  int     // where it is
}

// The levels of containers around a value before the sanitiser removes it. It does not
// change an unlimited value.
const (
	unlimited = -1
	fieldSpan = 50
)

// read scans the value.
func (w *writer) read() error {
	w.tape.text = len(w.b)
	s := scanner{b: w.b, dialect: either, tape: w.tape}
	s.scan()
	if s.problem != none {
		return s.failure()
	}
	w.rewritten = w.style.rewritten()
	if w.style.MaxDepth <= 0 || w.style.MaxDepth > MaxDepth {
		w.style.MaxDepth = MaxDepth
	}
	return nil
}

// size estimates the length of the result: every node may gain a space.
func (w *writer) size() int { return len(w.b) + w.tape.size + w.style.Indent*2*w.tape.size }

// finish returns the result, or dst when something was refused.
func (w *writer) finish(dst, result []byte) ([]byte, error) {
	if w.problem == none {
		return result, nil
	}
	return dst, w.problem.at(w.failed, w.b)
}

// refuse notes a problem at node n unless there was one before.
func (w *writer) refuse(n *node, p problem) {
	if w.problem == none {
		w.failed, w.problem = n.at, p
	}
}

// removed reports whether the sanitiser removes the value of node i from a container that it leaves span levels.
func (w *writer) removed(i, span int) bool {
	return span != unlimited && (span == 1 || w.b[w.tape.node(i).at] == 'n')
}

// within returns the rest of span inside a container.
func within(span int) int {
	if span == unlimited {
		return span
	}
	return span - 1
}

// fits reports whether the container at node i may be that deep, and refuses it
// otherwise.
func (w *writer) fits(i, depth int) bool {
	if depth > w.style.MaxDepth {
		w.refuse(w.tape.node(i), tooDeep)
		return false
	}
	return true
}

// separate appends the text before the next element of a container behind count others.
func (w *writer) separate(dst []byte, count, depth int) []byte {
	if count > 0 {
		dst = append(dst, ',')
	}
	switch {
	case w.style.Indent > 0:
		return w.newline(dst, depth)
	case count > 0 && !w.style.Compact:
		return append(dst, ' ')
	}
	return dst
}

// close appends the end of a container of count elements.
func (w *writer) close(dst []byte, c byte, count, depth int) []byte {
	if count > 0 && w.style.Indent > 0 {
		dst = w.newline(dst, depth-1)
	}
	return append(dst, c)
}

func (w *writer) newline(dst []byte, depth int) []byte {
	dst = append(dst, '\n')
	for range depth * w.style.Indent {
		dst = append(dst, ' ')
	}
	return dst
}

// Encode returns v as raw JSON. A [json.RawMessage] is checked as [Tolerant] and copied
// as it is, so NaN, order and number texts stay. Everything else goes through
// encoding/json, without its escapes for HTML; raw messages inside another value must be
// acceptable to encoding/json. The result is always a value that Check accepts.
func Encode(v any) ([]byte, error) {
	raw, ok := v.(json.RawMessage)
	if !ok || raw == nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("encode value: %w", err)
		}
		raw = bytes.TrimSuffix(buf.Bytes(), []byte{'\n'})
	}
	if err := Check(raw, Tolerant); err != nil {
		return nil, fmt.Errorf("encode value: %w", err)
	}
	if ok {
		raw = bytes.Clone(raw)
	}
	return raw, nil
}

// Style says how values are written. The zero Style is json.dumps(v, ensure_ascii=False).
type Style struct {
	Indent   int  // spaces a level; 0 is one line
	Compact  bool // separators "," and ":" instead of ", " and ": "
	ASCII    bool // \u escapes for DEL and everything beyond ASCII, in surrogate pairs beyond U+FFFF
	Portable bool // \u escapes for U+0085, U+2028 and U+2029, at which some tools break lines
	SortKeys bool // members at every level by name, in the order of code points
	Redact   bool // "[REDACTED]" as the value of every member with a secret's name
	Finite   bool // refuse NaN, infinities and floats that overflow
	KeepBig  bool // a float that overflows keeps its text, which the newer tools read, and does not become Infinity, which they refuse
	Replace  bool // U+FFFD for lone surrogates, which else are written as escapes
	MaxDepth int  // containers that may be nested; 0 and more than MaxDepth mean MaxDepth
}

// rewritten returns the flags of strings that cannot be copied as they are.
func (st Style) rewritten() flags {
	f := escaped | surrogate
	if st.ASCII {
		f |= wide
	}
	if st.Portable {
		f |= separator
	}
	return f
}
