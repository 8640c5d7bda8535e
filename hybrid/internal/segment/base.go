package segment

// base is the line that the next long line of a stream is compared with.
type base struct {
	Large
	buf []byte
}

// A delta chain is broken by a whole line once the deltas since the last one
// add up to ten times the line: whole lines cost a tenth then.
const perKey = 10

// row returns how record n is to be stored: as it is, or as a delta. What it
// returns is valid until the next call, and may share memory with line. A long
// line becomes the base of those that follow, except one that has nothing in
// common with the base and is shorter: the output of a tool between two
// requests that repeat each other. It does after all when such lines have
// wasted what the base is long.
func (b *base) row(s Stream, n int64, line []byte) row {
	if !s.deltas() || len(line) <= largeMin {
		return row{data: line}
	}
	size := int64(len(line))
	if b.Line != nil {
		var alike bool
		b.buf, alike = appendDelta(b.buf[:0], b.Line, line, int(size-size/4))
		stored := int64(len(b.buf))
		if alike && b.Since+stored <= perKey*size {
			r := row{data: b.buf, ref: &ref{As: asDelta, Base: new(b.N), Bytes: size, Stored: stored}}
			b.become(n, line, b.Since+stored)
			return r
		}
		if b.Wasted += size; !alike && size < int64(len(b.Line)) && b.Wasted < int64(len(b.Line)) {
			return row{data: line}
		}
	}
	b.become(n, line, 0)
	return row{data: line, ref: &ref{As: asKey, Bytes: size}}
}

func (b *base) become(n int64, line []byte, since int64) {
	b.Large = Large{N: n, Line: append(b.Line[:0], line...), Since: since}
}

// A Large is the line that the next long line of an event log is compared
// with. Without it nothing is lost: one line is stored whole.
type Large struct {
	N      int64  `json:"n"` // its record
	Line   []byte `json:"-"` // as it leaves
	Since  int64  `json:"since"`
	Wasted int64  `json:"wasted"`
}
