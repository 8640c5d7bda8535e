package hybrid

import (
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// orphans returns the documents that nothing leads to and that may go: what
// other documents name comes behind these. Of a stream that is damaged nothing
// goes: the error, which Is ErrDamaged, tells. What is too young is counted.
func (s *stock) orphans(r *roots, grace time.Duration, sum *UpkeepResult) (doomed []*stored, damage error) {
	n := s.need(r)
	chunks := map[string]bool{} // that documents which stay name
	for _, f := range r.blobs {
		_, ids := f.Documents(r.sid)
		for _, id := range ids {
			chunks[r.pk+"\n"+id] = true
		}
	}
	var segments, rest []*stored
	for _, d := range s.docs {
		if d.Type == segment.TypeSegment {
			if n.keeps(d) || !s.old(d, max(grace, 0), n.coveredSince(d, s), sum) {
				for _, ref := range d.Refs {
					for _, name := range ref.Chunks {
						chunks[d.PK+"\n"+segment.ChunkID(r.sid, name)] = true
					}
				}
				continue
			}
			segments = append(segments, d)
		}
	}
	for _, d := range s.docs {
		age := grace
		switch d.Type {
		case segment.TypeChunk:
			if chunks[d.PK+"\n"+d.ID] {
				continue
			}
		case tip.TypeBranch:
			if !n.covered[d.ID] {
				continue
			}
		case tip.TypeMore:
			if r.lists[d.ID] {
				continue
			}
		case typeFork:
			if r.forks[d.ID] {
				continue
			}
			age = max(grace, firstGrace) // its fork may not have its tip yet
		default:
			continue
		}
		if s.old(d, age, time.Time{}, sum) {
			rest = append(rest, d)
		}
	}
	return append(segments, rest...), n.damage
}

// old reports whether a document that nothing leads to is older than grace, and
// what stands for it since a time too.
func (s *stock) old(d *stored, grace time.Duration, since time.Time, sum *UpkeepResult) bool {
	at := time.Unix(d.TS, 0).UTC()
	if since.After(at) {
		at = since
	}
	if s.now.Sub(at) > grace {
		return true
	}
	sum.Waiting++
	sum.wait(at.Add(grace + time.Second))
	return false
}

// needs is what the histories that can be named are read from.
type needs struct {
	ids     map[string]bool                   // of segments
	spans   map[segment.Stream][]segment.Span // the same
	broken  map[segment.Stream]bool           // streams with a history that cannot be read
	covered map[string]bool                   // branches that are a part of one that stays, by id
	damage  error
}

func (s *stock) need(r *roots) *needs {
	n := &needs{
		ids: map[string]bool{}, spans: map[segment.Stream][]segment.Span{}, broken: map[segment.Stream]bool{}, covered: map[string]bool{},
	}
	n.add(s, segment.Transcript, r.main)
	for _, p := range r.branches {
		n.add(s, segment.Transcript, p)
	}
	for _, p := range r.others {
		n.add(s, segment.Transcript, p)
	}
	for st, p := range r.logs {
		n.add(s, st, p)
	}
	for _, b := range s.branches {
		p := b.Transcript.Point()
		id := segment.BranchID(r.sid, p)
		if !r.listed[id] && s.within(p, append(r.branches, r.main)) {
			n.covered[id] = true
			continue
		}
		n.add(s, segment.Transcript, p)
	}
	return n
}

// spans returns the session's own segments that a history is read from. Those
// that it was forked from hold lines up to that place, even where they have more
// that is the same: what they keep is not for it to say.
func (s *stock) spans(st segment.Stream, p segment.Point) ([]segment.Span, error) {
	spans, err := segment.Tile(st, s.segments[st], segment.Origin(st), p)
	if err == nil || s.from == nil || st != segment.Transcript {
		return spans, err
	}
	starts := []segment.Point{s.from.Point}
	for _, in := range s.segments[st] {
		if in.From.N < s.from.N && in.From.N < p.N {
			starts = append(starts, in.From)
		}
	}
	for _, q := range starts {
		if spans, failed := segment.Tile(st, s.segments[st], q, p); failed == nil && s.before(q) {
			return spans, nil
		}
	}
	if s.before(p) {
		return nil, nil
	}
	return nil, err
}

// before reports whether a point is on the history that a fork began with.
func (s *stock) before(p segment.Point) bool {
	if p.N == 0 || p == s.from.Point {
		return true
	}
	_, err := segment.Tile(segment.Transcript, s.past, p, s.from.Point)
	return err == nil
}

// within reports whether a point lies on one of some histories.
func (s *stock) within(p segment.Point, histories []segment.Point) bool {
	all := append(s.past[:len(s.past):len(s.past)], s.segments[segment.Transcript]...)
	for _, h := range histories {
		if _, err := segment.Tile(segment.Transcript, all, p, h); err == nil && p != h {
			return true
		}
	}
	return false
}

// add notes what the history that ends at p is read from.
func (n *needs) add(s *stock, st segment.Stream, p segment.Point) {
	if p.N == 0 {
		return
	}
	spans, err := s.spans(st, p)
	if err != nil {
		n.broken[st] = true
		n.damage = errors.Join(n.damage, fmt.Errorf("%w: %w", ErrDamaged, err))
		return
	}
	for _, sp := range spans {
		if !n.ids[sp.ID] {
			n.ids[sp.ID] = true
			n.spans[st] = append(n.spans[st], sp)
		}
	}
}

// keeps reports whether a segment must stay whatever its age: it is read, or
// nobody can say what it is good for.
func (n *needs) keeps(d *stored) bool {
	return d.info == nil || n.ids[d.ID] || n.broken[d.info.Stream]
}

// coveredSince returns when the youngest was written of the segments that are
// read in the place of d.
func (n *needs) coveredSince(d *stored, s *stock) (at time.Time) {
	for _, sp := range n.spans[d.info.Stream] {
		if sp.From.N < d.info.To.N && sp.To.N > d.info.From.N {
			if w := s.written[sp.ID]; w.After(at) {
				at = w
			}
		}
	}
	return at
}
