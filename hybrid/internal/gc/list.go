package gc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// list takes the inventory of a session, which may have no head. It passes over documents
// of other tools.
func (p *pruner) list(ctx context.Context) (*inventory, error) {
	i := newInventory(p.s.SID, p.head, p.histories)
	if err := p.listDocuments(ctx, i); err != nil {
		return nil, err
	}
	// A list with another version of the head may be older than its condemned names.
	if t := i.headDocument(); p.head != nil && (t == nil || t.Version != p.s.Head.Version) {
		return nil, errLagging
	}
	// A service that returns no time is at least as late as its newest document.
	i.now = p.s.Reader.Time()
	for _, d := range i.docs {
		if at := d.Time; at.After(i.now) {
			i.now = at
		}
	}
	return i, nil
}

func (p *pruner) listDocuments(ctx context.Context, i *inventory) error {
	condemned := map[string]bool{}
	if p.head != nil {
		var err error
		if condemned, err = p.s.Reader.Condemned(ctx, p.head); err != nil {
			return err
		}
	}
	for o, err := range p.s.Reader.List(ctx, p.pk(), remote.Query{Prefix: i.sid + "-"}) {
		if err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		if condemned[o.Name] {
			continue
		}
		d := &document{}
		if err := json.Unmarshal(o.Label, d); err != nil {
			continue // of another tool
		}
		if err := segment.CheckFormat(o.Label); err != nil {
			return fmt.Errorf("list documents: %w", err)
		}
		d.Object = o
		i.docs = append(i.docs, d)
		if d.Type != segment.TypeSegment {
			continue
		}
		if info, err := segment.DecodeInfo(p.pk(), o.Name, o.Label); err == nil {
			d.info = &info
		}
	}
	i.addWhole()
	return nil
}

// inventory is the list of a session's documents, taken after its head was read.
type inventory struct {
	sid      string
	head     *head.Head
	docs     []*document
	segments map[segment.Stream][]segment.Info // of the session itself
	written  map[string]time.Time              // when segments were written, by id
	listed   []head.History                    // that the head names, without expired ones
	over     []head.History                    // expired ones
	now      time.Time                         // by the service's clock
}

func newInventory(sid string, t *head.Head, listed []head.History) *inventory {
	return &inventory{
		sid: sid, head: t, listed: listed, segments: map[segment.Stream][]segment.Info{}, written: map[string]time.Time{},
	}
}

// document is a document of the session, without its lines.
type document struct {
	remote.Object
	Type   string   `json:"type"`
	Chunks []string `json:"chunks"` // of a segment: the names of the chunks that it needs

	info *segment.Info // of a segment; nil when it cannot be read
}

// chunks returns the ids of the chunks that a segment needs.
func (d *document) chunks(sid string) (ids []string) {
	for _, name := range d.Chunks {
		ids = append(ids, segment.ChunkID(sid, name))
	}
	return ids
}

// addWhole adds the segments that were listed with all their chunks. Where a prune removed chunks
// of a writer that slept, the segment that the writer then stored leads to nothing.
func (i *inventory) addWhole() {
	listed := map[string]bool{}
	for _, d := range i.docs {
		listed[d.Name] = true
	}
	for _, d := range i.docs {
		if d.info != nil && !slices.ContainsFunc(d.chunks(i.sid), func(id string) bool { return !listed[id] }) {
			i.add(*d.info, d.Time)
		}
	}
}

// add adds a segment that was just stored.
func (i *inventory) add(in segment.Info, at time.Time) {
	i.segments[in.Stream] = append(i.segments[in.Stream], in)
	i.written[in.ID] = at
}

// idsOf returns the ids of documents.
func idsOf(docs []*document) (ids []string) {
	for _, d := range docs {
		ids = append(ids, d.Name)
	}
	return ids
}

// liveSet is the part of an inventory that is still needed.
type liveSet struct {
	segments map[string]bool                   // by id
	spans    map[segment.Stream][]segment.Span // the same segments
	broken   map[segment.Stream]bool           // streams with a history that cannot be read: they stay as they are
	damage   error                             // Is ErrDamaged: the reasons for broken streams
}

// live follows everything that leads to lines: the head, and the histories that it
// names.
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

// add adds the segments of the history that ends at p.
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

// has reports whether a segment must stay whatever its age: it is needed, or its use is
// unknown.
func (l *liveSet) has(d *document) bool {
	return d.info == nil || l.segments[d.Name] || l.broken[d.info.Stream]
}

// coveredSince returns the time of the youngest segment that is read in the place of d.
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

// expire takes the former heads that have been kept for their time out of an inventory's
// list.
func (p *pruner) expire(i *inventory) {
	now := p.s.Reader.Time()
	if p.o.Retention < 0 || now.IsZero() {
		return
	}
	i.listed = nil
	for _, h := range p.histories {
		switch {
		case h.Branch():
		case now.Sub(h.At) > p.o.Retention:
			i.over = append(i.over, h)
			continue
		default:
			p.sum.wait(h.At.Add(p.o.Retention + time.Second))
		}
		i.listed = append(i.listed, h)
	}
}
