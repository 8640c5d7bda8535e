package gc

import (
	"errors"
	"fmt"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// liveSet is what of an inventory somebody can still name or read.
type liveSet struct {
	segments map[string]bool                   // by id
	spans    map[segment.Stream][]segment.Span // the same segments
	broken   map[segment.Stream]bool           // streams with a history that cannot be read: they stay as they are
	damage   error                             // Is ErrDamaged: why streams are broken
}

// live follows everything that leads to lines: the head, and the histories that it names.
func (i *inventory) live() *liveSet {
	l := &liveSet{
		segments: map[string]bool{}, spans: map[segment.Stream][]segment.Span{}, broken: map[segment.Stream]bool{},
	}
	l.add(i, segment.Transcript, i.head.Transcript.Point())
	for st, r := range i.head.Logs {
		l.add(i, st, r.Point())
	}
	for _, h := range i.listed {
		l.add(i, h.Stream, h.Extent.Point())
	}
	return l
}

// add adds the segments that the history which ends at p is read from.
func (l *liveSet) add(i *inventory, st segment.Stream, p segment.Point) {
	if p.N <= 0 {
		return
	}
	spans, err := segment.Tile(st, i.segments[st], segment.Origin(st), p)
	if err != nil {
		l.broken[st] = true
		l.damage = errors.Join(l.damage, fmt.Errorf("%w: %w", remoteread.ErrDamaged, err))
		return
	}
	for _, sp := range spans {
		if !l.segments[sp.ID] {
			l.segments[sp.ID] = true
			l.spans[st] = append(l.spans[st], sp)
		}
	}
}

// has reports whether a segment must stay whatever its age: it is read, or
// nobody can say what it is good for.
func (l *liveSet) has(d *document) bool {
	return d.info == nil || l.segments[d.Name] || l.broken[d.info.Stream]
}

// coveredSince returns when the youngest was written of the segments that are
// read in the place of d.
func (l *liveSet) coveredSince(d *document, written map[string]time.Time) (at time.Time) {
	for _, sp := range l.spans[d.info.Stream] {
		if sp.From.N < d.info.To.N && sp.To.N > d.info.From.N {
			if w := written[sp.ID]; w.After(at) {
				at = w
			}
		}
	}
	return at
}
