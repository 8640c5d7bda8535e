package hybrid

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
)

// collect removes what no tip, former tip, branch or fork leads to.
func (u *keeper) collect(ctx context.Context, s *stock) error {
	r, err := u.roots(ctx, s)
	if err != nil {
		return err
	}
	doomed, damage := s.orphans(r, u.options.Grace, &u.sum)
	if err := u.removeAll(ctx, doomed); err != nil {
		return err
	}
	return damage
}

// removeAll removes documents as they were listed.
func (u *keeper) removeAll(ctx context.Context, doomed []*stored) error {
	if u.options.Plan {
		u.sum.Removed += len(doomed)
		return nil
	}
	byPK := map[string][]step{}
	for _, d := range doomed {
		byPK[d.PK] = append(byPK[d.PK], step{id: d.ID, etag: d.ETag})
	}
	for _, pk := range slices.Sorted(maps.Keys(byPK)) {
		removed, err := u.under(ctx, pk, byPK[pk])
		u.sum.Removed += removed
		if err != nil {
			return fmt.Errorf("remove documents: %w", err)
		}
	}
	return nil
}

// roots is what everything that stays is reached from.
type roots struct {
	sid, pk  string
	main     segment.Point
	branches []segment.Point // listed ones: like main they stay
	others   []segment.Point // former tips, and what forks need
	logs     map[segment.Stream]segment.Point
	blobs    []tip.File
	lists    map[string]bool // documents with former tips and branches, by id
	listed   map[string]bool // branches, by id
	forks    map[string]bool // documents that name living forks, by id
}

func (u *keeper) roots(ctx context.Context, s *stock) (*roots, error) {
	r := &roots{
		sid: u.sid, pk: u.pk, main: u.tip.Transcript.Point(), logs: map[segment.Stream]segment.Point{},
		lists: map[string]bool{}, listed: map[string]bool{}, forks: map[string]bool{},
	}
	for _, ids := range [][]string{u.tip.OldMore, u.tip.BranchMore} {
		more, err := u.more(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			r.lists[m.ID] = true
		}
	}
	branches, err := u.listedBranches(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range branches {
		r.listed[b.ID] = true
		r.branches = append(r.branches, b.Tip)
	}
	for _, o := range s.former {
		r.others = append(r.others, o.Point)
	}
	for st, reach := range u.tip.Logs {
		r.logs[st] = reach.Point()
	}
	for _, t := range append(s.branches, u.tip) {
		r.blobs = slices.AppendSeq(r.blobs, maps.Values(t.Files))
	}
	return r, u.rootForks(ctx, s, r)
}

// rootForks adds what forks need. One that has no tip yet counts as well.
func (u *keeper) rootForks(ctx context.Context, s *stock, r *roots) error {
	for _, d := range s.docs {
		if d.Type != typeFork || d.Child == "" {
			continue
		}
		if d.From.N > 0 {
			r.others = append(r.others, d.From)
		}
		doc, err := u.link.read(ctx, segment.SessionPK(d.Child), segment.HeadID(d.Child), "")
		if err != nil {
			return err
		}
		if doc == nil {
			continue
		}
		child, err := tip.Decode(doc.body, d.Child)
		if errors.Is(err, segment.ErrNewer) {
			return err
		}
		r.forks[d.ID] = err != nil || !child.Deleted && child.From != nil && child.From.SID == u.sid
		if err == nil && r.forks[d.ID] {
			r.others = append(r.others, child.From.Point)
		}
	}
	return nil
}
