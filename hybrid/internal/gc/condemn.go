package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// maxNames is the largest number of names that a document condemns, so that it fits into
// one request.
const maxNames = 5000

// swap makes next the head, after it stored the documents with, and then removes the
// documents without. The error Is [remoteread.ErrLost] when the head has changed since it
// was read.
func (p *pruner) swap(ctx context.Context, next *head.Head, with []segment.Document, without ...string) error {
	next.Fence = p.s.Random.Name(8)
	return p.swapAs(ctx, next, with, without)
}

func (p *pruner) swapAs(ctx context.Context, next *head.Head, with []segment.Document, without []string) error {
	doc, err := next.Encode()
	if err != nil {
		return err
	}
	swap := remoteread.Swap(doc, p.s.Head.Version)
	swap.Remove = without
	v, err := p.s.Reader.Commit(ctx, p.pk(), with, swap)
	if err != nil {
		return remoteread.Lost(err)
	}
	p.head, p.s.Head = next, remoteread.Known{Version: v, Doc: doc.Body}
	return nil
}

// condemn makes a head that lacks some histories, and condemns documents.
func (p *pruner) condemn(ctx context.Context, over []head.History, names []string) error {
	g := head.Gone{ID: segment.GoneID(p.s.SID, p.s.Random.Name(8)), Names: names}
	doc, err := g.Encode(p.s.SID)
	if err != nil {
		return err
	}
	next := p.without(over)
	next.Gone = append(next.Gone, g.ID)
	return p.swap(ctx, next, []segment.Document{doc})
}

// without returns the next head, without some histories.
func (p *pruner) without(over []head.History) *head.Head {
	next := p.head.Clone()
	for i := range over {
		next.Histories.Drop(&over[i])
	}
	return next
}

// removeFull removes documents in the request that makes the head one without some
// histories. It is for a part that has no room to condemn them: a remote with such parts
// removes them in the request that makes the head.
func (p *pruner) removeFull(ctx context.Context, over []head.History, names []string) error {
	next := p.without(over)
	next.Fence = p.fence()
	return p.swapAs(ctx, next, nil, names)
}

// fence draws the fence of the next head. A head without a fence may have no room for
// one.
func (p *pruner) fence() string {
	fence := p.s.Random.Name(8)
	return fence[:min(len(fence), len(p.head.Fence))]
}

// finish removes the documents that the head condemns, and makes a head that condemns
// none.
func (p *pruner) finish(ctx context.Context) error {
	for len(p.head.Gone) > 0 {
		id := p.head.Gone[0]
		names, err := p.condemned(ctx, id)
		if err != nil {
			return err
		}
		if err := p.discard(ctx, names); err != nil {
			return err
		}
		next := p.head.Clone()
		next.Gone = slices.Delete(next.Gone, 0, 1)
		if err := p.swap(ctx, next, nil, id); err != nil {
			return err
		}
	}
	return nil
}

// condemned returns the names that a document condemns. Where the document is damaged or
// lost, its names are unknown, and condemned returns none. A lost document is first
// stored again, empty: that request fails where only a replica lagged behind.
func (p *pruner) condemned(ctx context.Context, id string) ([]string, error) {
	g, err := p.s.Reader.Gone(ctx, p.s.SID, id)
	switch {
	case errors.Is(err, remoteread.ErrDamaged):
		return nil, nil
	case err != nil:
		return nil, err
	case g != nil:
		return g.Names, nil
	}
	doc, err := (&head.Gone{ID: id}).Encode(p.s.SID)
	if err != nil {
		return nil, err
	}
	_, err = p.s.Reader.Commit(ctx, p.pk(), nil, remoteread.Swap(doc, ""))
	return nil, remoteread.Lost(err)
}

// discard removes documents of the session.
func (p *pruner) discard(ctx context.Context, ids []string) error {
	if err := p.s.Reader.Discard(ctx, p.pk(), ids); err != nil {
		return fmt.Errorf("remove documents: %w", err)
	}
	return nil
}

// Finish removes the documents that the head of a session condemns. Where another device
// changes the head in between, the rest is for the next Finish or Prune.
func Finish(ctx context.Context, s *Session) error {
	p := &pruner{s: s}
	if err := p.readHead(ctx); err != nil || p.head == nil {
		return err
	}
	err := p.finish(ctx)
	if p.outdated(ctx, err) || errors.Is(err, remoteread.ErrLost) {
		return nil
	}
	return err
}

// garbage returns the documents that are not live and older than grace: segments first,
// then all others. It counts the documents that are too young.
func (i *inventory) garbage(l *liveSet, grace time.Duration, sum *Result) []*document {
	segments, chunks := i.deadSegments(l, grace, sum)
	i.addFiles(chunks)
	var rest []*document
	for _, d := range i.docs {
		dead := false
		switch d.Type {
		case segment.TypeChunk:
			dead = !chunks[d.Name]
		case head.TypeHistory: // that the head does not name
			dead = !i.head.Histories.Has(d.Name)
		case head.TypeGone: // that the head does not lead to
			dead = !slices.Contains(i.head.Gone, d.Name)
		}
		if dead && i.old(d, grace, time.Time{}, sum) {
			rest = append(rest, d)
		}
	}
	return append(segments, rest...)
}

// deadSegments returns the segments to remove, and the chunks that the remaining segments
// need.
func (i *inventory) deadSegments(l *liveSet, grace time.Duration, sum *Result) (dead []*document, chunks map[string]bool) {
	chunks = map[string]bool{}
	for _, d := range i.docs {
		if d.Type != segment.TypeSegment {
			continue
		}
		if !l.has(d) && i.old(d, grace, l.coveredSince(d, i.written), sum) {
			dead = append(dead, d)
			continue
		}
		for _, id := range d.chunks(i.sid) {
			chunks[id] = true
		}
	}
	return dead, chunks
}

// addFiles adds the chunks of the head's small files.
func (i *inventory) addFiles(chunks map[string]bool) {
	for _, f := range i.head.Files {
		_, ids := f.Documents(i.sid)
		for _, id := range ids {
			chunks[id] = true
		}
	}
}

// headDocument returns the document of the head; nil where the list lacks it.
func (i *inventory) headDocument() *document {
	for _, d := range i.docs {
		if d.Name == segment.HeadID(i.sid) {
			return d
		}
	}
	return nil
}

// remains returns all documents but the head that are older than grace.
func (i *inventory) remains(grace time.Duration, sum *Result) (garbage []*document) {
	for _, d := range i.docs {
		if d.Name != segment.HeadID(i.sid) && i.old(d, grace, time.Time{}, sum) {
			garbage = append(garbage, d)
		}
	}
	return garbage
}

// old reports whether a document is older than grace, and so is its replacement, stored
// at since. It counts a document that is not.
func (i *inventory) old(d *document, grace time.Duration, since time.Time, sum *Result) bool {
	at := d.Time
	if since.After(at) {
		at = since
	}
	if i.now.Sub(at) > grace {
		return true
	}
	sum.Waiting++
	sum.wait(at.Add(grace + time.Second))
	return false
}

// lastLook is the time after the last write of a tombstone when Prune looks once more for
// documents of its session.
const lastLook = 90 * 24 * time.Hour

// clearDeleted removes everything of a deleted session but its tombstone: a deletion may
// have been interrupted, and a device that did not know of it may have uploaded since.
func (p *pruner) clearDeleted(ctx context.Context) error {
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	garbage := idsOf(i.remains(p.o.Grace, &p.sum))
	if len(garbage) > 0 && !p.o.Plan {
		if err := p.swap(ctx, p.head.Clone(), nil); err != nil {
			return err
		}
		if err := p.discard(ctx, garbage); err != nil {
			return err
		}
	}
	p.sum.Removed += len(garbage)
	last := i.now
	if t := i.headDocument(); t != nil && len(garbage) == 0 {
		last = t.Time
	}
	if last = last.Add(lastLook + time.Second); last.After(i.now) {
		p.sum.wait(last)
	}
	return p.enterDeleted(ctx)
}

// enterDeleted writes the entry of a tombstone, where the device that deleted the session
// was interrupted before that.
func (p *pruner) enterDeleted(ctx context.Context) error {
	e := p.s.Entry
	if e == nil || e.Deleted || p.o.Plan {
		return nil
	}
	entry := p.head.Catalogue(e.UID, "")
	_, err := p.s.Reader.WriteEntry(ctx, &entry, e.Version)
	return err
}

// clearRemains removes everything of a session that has no head, as when its first upload
// never ended, and marks its entry of the catalogue as deleted. Without a head a writer
// may be under way unseen, so only old documents are removed.
func (p *pruner) clearRemains(ctx context.Context) error {
	i, err := p.list(ctx)
	if err != nil {
		return err
	}
	if i.headDocument() != nil {
		return errLagging
	}
	grace := max(p.o.Grace, firstGrace)
	garbage := idsOf(i.remains(grace, &p.sum))
	if !p.o.Plan {
		if err := p.discard(ctx, garbage); err != nil {
			return err
		}
	}
	p.sum.Removed += len(garbage)
	if len(garbage) < len(i.docs) {
		return nil
	}
	return p.clearEntry(ctx, i.now, grace)
}

// clearEntry marks the session's entry of the catalogue as deleted, unless it is young: a
// first upload writes it before all else.
func (p *pruner) clearEntry(ctx context.Context, now time.Time, grace time.Duration) error {
	e := p.s.Entry
	if e == nil || e.Deleted {
		return nil
	}
	if now.Sub(e.Written) <= grace {
		p.sum.Waiting++
		p.sum.wait(e.Written.Add(grace + time.Second))
		return nil
	}
	p.sum.Removed++
	if p.o.Plan {
		return nil
	}
	dead := e.Catalogue
	dead.Deleted, dead.Name = true, ""
	doc, err := dead.Encode()
	if err != nil {
		return err
	}
	_, err = p.s.Reader.Commit(ctx, doc.PK, nil, remoteread.Swap(doc, e.Version))
	return remoteread.Lost(err)
}
