package hybrid

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// clearDeleted removes what is left of a deleted session but its tombstone: a
// deletion may have been interrupted, and a device that did not know of it may
// have uploaded since.
func (u *keeper) clearDeleted(ctx context.Context) error {
	s, err := u.take(ctx)
	if err != nil {
		return err
	}
	return u.removeAll(ctx, s.leftovers(u.sid, u.options.Grace, &u.sum))
}

// leftovers returns all documents of a session but its tip that are older than
// grace: what goes last is what tells of others.
func (s *stock) leftovers(sid string, grace time.Duration, sum *UpkeepResult) (doomed []*stored) {
	for _, d := range s.docs {
		if d.ID != segment.HeadID(sid) && s.old(d, grace, time.Time{}, sum) {
			doomed = append(doomed, d)
		}
	}
	return doomed
}

// clearLeftovers removes what is left of a session that has no tip, as when its
// tombstone has expired or its first upload never ended, and then its entry in
// the catalogue. No tip guards what is removed, so it must be old.
func (u *keeper) clearLeftovers(ctx context.Context) error {
	s := &stock{segments: map[segment.Stream][]segment.Info{}, written: map[string]time.Time{}}
	if err := u.takeAll(ctx, s); err != nil {
		return err
	}
	if date := u.link.serverTime(); date.After(s.now) {
		s.now = date
	}
	grace := max(u.options.Grace, firstGrace)
	doomed := s.leftovers(u.sid, grace, &u.sum)
	u.sum.Removed += len(doomed)
	if !u.options.Plan {
		for _, d := range doomed {
			if err := u.link.removeSame(ctx, d.PK, d.ID, d.ETag); err != nil {
				return fmt.Errorf("remove documents: %w", err)
			}
		}
	}
	if u.entry == nil || len(doomed) < len(s.docs) {
		return nil
	}
	if s.now.Sub(u.entry.at) <= grace {
		u.sum.Waiting++
		u.sum.wait(u.entry.at.Add(grace + time.Second))
		return nil
	}
	u.sum.Removed++
	if u.options.Plan {
		return nil
	}
	return u.link.removeSame(ctx, segment.UserPK(u.uid()), u.entry.SID, u.entry.etag)
}

// takeAll lists the partitions of a session of which nobody tells how many it
// has: each stream's up to the first that is empty.
func (u *keeper) takeAll(ctx context.Context, s *stock) error {
	if err := u.takePartition(ctx, u.pk, s); err != nil {
		return err
	}
	streams := map[segment.Stream]bool{segment.Transcript: true}
	for st := range s.segments {
		streams[st] = true
	}
	for _, st := range slices.Sorted(maps.Keys(streams)) {
		for b := 1; ; b++ {
			before := len(s.docs)
			if err := u.takePartition(ctx, segment.StreamPK(u.sid, st, b), s); err != nil {
				return err
			}
			if len(s.docs) == before {
				break
			}
		}
	}
	return nil
}

// dropFormer gives up the former tips that are older than they are kept.
func (u *keeper) dropFormer(ctx context.Context) error {
	now := u.link.serverTime()
	if u.options.Former < 0 || now.IsZero() || len(u.tip.Old)+len(u.tip.OldMore) == 0 {
		return nil
	}
	former, err := u.formerTips(ctx)
	if err != nil {
		return fmt.Errorf("list former tips: %w", err)
	}
	expired := func(o tip.Old) bool { return now.Sub(o.At) > u.options.Former }
	for _, o := range former {
		if !expired(o) {
			u.sum.wait(o.At.Add(u.options.Former + time.Second))
		}
	}
	n := len(former)
	if former = slices.DeleteFunc(former, expired); len(former) == n {
		return nil
	}
	u.sum.Former += n - len(former)
	if u.options.Plan {
		return nil
	}
	return u.keepFormer(ctx, former)
}

// keepFormer makes a tip with these former tips and no others.
func (u *keeper) keepFormer(ctx context.Context, former []tip.Old) error {
	slices.SortStableFunc(former, func(a, b tip.Old) int { return a.At.Compare(b.At) })
	next := u.tip.Clone()
	next.Revision++
	next.Op = u.dev.id + "-" + u.chance.name(6)
	next.Old, next.OldMore = nil, nil
	box := &outbox{link: u.link, pk: u.pk}
	room := max(0, len(former)-tip.MaxOld)
	next.Old = former[room:]
	for part := range slices.Chunk(former[:room], tip.MaxMore) {
		if err := u.spill(ctx, &next.OldMore, part, nil, box); err != nil {
			return err
		}
	}
	doc, err := next.Encode()
	if err != nil {
		return err
	}
	etag, v := box.commit(ctx, doc.ID, doc.Body, u.etag)
	if v.class != fine {
		return lostTo(v)
	}
	u.tip = next
	u.retag(etag, doc.Body)
	return nil
}
