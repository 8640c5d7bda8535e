package segment

import (
	"fmt"
	"slices"
)

// A reader reads a stream segment by segment.
type reader struct {
	src    Source
	st     Stream
	infos  []Info
	damage *DamageError // of a segment that is no longer among infos
	at     Point        // behind what was read and checked
	tip    Point
	spans  []Span // what is still to be read
	kept   kept
	chain  *chain
}

// kept is a line that deltas may need.
type kept struct {
	n    int64
	line []byte // nil when there is none
	lent bool   // by the caller: it was not checked
	part bool   // of a segment, which it keeps in memory
}

func (r *reader) damaged(in *Info, cause error) *DamageError {
	return &DamageError{Stream: r.st, From: in.From.N, To: in.To.N, ID: in.ID, Cause: cause}
}

// has reports whether the segment id is among those that may be used.
func (r *reader) has(id string) bool {
	return slices.ContainsFunc(r.infos, func(in Info) bool { return in.ID == id })
}

func apply(base, delta []byte, to *ref) ([]byte, error) {
	line, err := applyDelta(make([]byte, 0, min(to.Bytes, int64(len(base)+len(delta)))), base, delta, to.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
	}
	return line, nil
}
