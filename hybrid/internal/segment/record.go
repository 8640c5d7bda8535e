package segment

import (
	"errors"
	"fmt"
)

// A place is where a row is stored.
type place struct {
	in Info
	i  int
}

// record returns record n, which lies on the history of segment s before its
// end. It goes back from delta to delta until it finds a whole line, and comes
// forward again, with one segment and one line in memory. The line is not
// checked by itself: what is made with it is.
func (r *reader) record(s *Segment, n int64) (line []byte, err error) {
	var way []place
	for {
		at, err := r.locate(s.Info, n)
		if err != nil {
			return nil, err
		}
		if s, err = r.reload(s, at); err != nil {
			return nil, err
		}
		way = append(way, at)
		ref := s.rows[at.i].ref
		if ref == nil || ref.As != asDelta {
			break
		}
		n = *ref.Base
	}
	for i := len(way) - 1; i >= 0; i-- {
		if s, err = r.reload(s, way[i]); err != nil {
			return nil, err
		}
		row := &s.rows[way[i].i]
		data, err := stored(r.src, s, row)
		if errors.Is(err, ErrDamaged) {
			return nil, r.damaged(&s.Info, err)
		}
		if err != nil {
			return nil, err
		}
		if row.ref == nil || row.ref.As != asDelta {
			line = data
		} else if line, err = apply(line, data, row.ref); err != nil {
			return nil, err
		}
	}
	return line, nil
}

// reload returns the segment of a place, which may be s.
func (r *reader) reload(s *Segment, at place) (*Segment, error) {
	if s.ID == at.in.ID {
		return s, nil
	}
	got, err := load(r.src, &at.in)
	if errors.Is(err, ErrDamaged) {
		return nil, r.damaged(&at.in, err)
	}
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", at.in.ID, err)
	}
	return got, nil
}

// locate finds record n on the history of the segment in.
func (r *reader) locate(in Info, n int64) (place, error) {
	for in.From.N > n {
		var before []*Info
		for i := range r.infos {
			if b := &r.infos[i]; b.Stream == r.st && b.From.N < in.From.N && b.To.N >= in.From.N {
				before = append(before, b)
			}
		}
		found := reach(before, n, in.From)
		if found == nil {
			return place{}, &GapError{Stream: r.st, From: n, To: in.From.N, Damage: r.damage}
		}
		in = *found
	}
	return place{in, int(n - in.From.N)}, nil
}
