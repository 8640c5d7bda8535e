package segment

import (
	"errors"
	"fmt"
)

// ErrTooLarge is returned for segments that do not fit into one.
var ErrTooLarge = errors.New("larger than a segment may be")

// Merge returns the document of one segment with the lines of several, each of
// which begins where the one before ends. Lines are neither expanded nor
// checked: what was damaged stays so. Segments of different sessions,
// and what would be too large, are refused.
func Merge(segments []*Segment, nonce string) (Document, error) {
	if len(segments) == 0 {
		return Document{}, errors.New("merge segments: none given")
	}
	first := segments[0]
	out := &Segment{Info: first.Info}
	out.Bytes, out.at, out.base, out.index, out.Chunks = 0, nil, -1, nil, nil
	out.To = first.From
	for _, s := range segments {
		if s.From != out.To || s.SID() != out.SID() || s.Stream != out.Stream {
			return Document{}, fmt.Errorf("merge segments: %s does not follow", s.ID)
		}
		out.take(s)
	}
	if out.Bytes > heldMax {
		return Document{}, fmt.Errorf("merge segments: %w", ErrTooLarge)
	}
	out.ID = ID(out.SID(), out.Stream, out.From, out.To, nonce)
	d, err := out.Document()
	if err == nil && !d.fits(Capacity) {
		err = fmt.Errorf("merge segments: %w", ErrTooLarge)
	}
	return d, err
}

// take puts the rows of s behind those of out.
func (out *Segment) take(s *Segment) {
	shift := len(out.rows)
	for _, r := range s.rows {
		if r.ref != nil {
			moved := *r.ref
			moved.I += shift
			r.ref = &moved
		}
		out.rows = append(out.rows, r)
	}
	out.blocks = append(out.blocks, s.blocks...)
	if out.base < 0 && s.base >= 0 && s.base < out.From.N {
		out.base = s.base
	}
	out.To = s.To
	out.Bytes += s.Bytes
	out.at = append(out.at, s.at...)
}
