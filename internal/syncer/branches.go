package syncer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/show"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Branch is a history of a session that is not its main line. Package hybrid
// documents its fields.
type Branch struct {
	ID       string
	Messages int
	Common   int
	Device   string
	At       time.Time
	Why      string
	KeptAs   string
	Extent   head.Extent
}

// branches lists the histories that are not the main line.
func (c *cloud) branches(ctx context.Context) (all []Branch, err error) {
	seen := map[segment.Point]bool{c.head.Transcript.Point(): true}
	add := func(b Branch) {
		if !seen[b.Extent.Point()] {
			seen[b.Extent.Point()] = true
			b.ID, b.Messages = b.Extent.Hash.String()[:16], int(b.Extent.N) // without the key of the session, which all begin with
			all = append(all, b)
		}
	}
	former, lost := c.lists.Former(ctx, c.head)
	known, gone := c.lists.Branches(ctx, c.head)
	if lost = errors.Join(lost, gone); lost != nil && !errors.Is(lost, remote.ErrDamaged) {
		return nil, lost
	}
	listed := map[string]head.Branch{}
	for _, b := range known {
		listed[b.ID] = b
	}
	for _, o := range former {
		add(Branch{Device: o.Device, At: o.At, Why: o.Why, Extent: head.Extent{N: o.N, Hash: o.Hash, Bytes: o.Bytes, Rules: o.Rules}})
	}
	found, err := c.storedBranches(ctx)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		entry, ok := listed[segment.BranchID(c.sid, b.Transcript.Point())]
		if !ok && c.continued(ctx, b.Transcript.Point(), found) {
			continue
		}
		add(Branch{
			Common: int(entry.Common), Device: b.Writer.Device, At: b.Updated, Why: "branch", KeptAs: entry.KeptAs, Extent: b.Transcript,
		})
	}
	slices.SortStableFunc(all, func(a, b Branch) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return all, lost
}

// storedBranches reads the documents of branches.
func (c *cloud) storedBranches(ctx context.Context) (all []*head.Head, err error) {
	for row, err := range c.link.Query(ctx, cosmos.Branches(c.pk)) {
		if err != nil {
			return nil, err
		}
		b, err := head.Decode(row, c.sid)
		if errors.Is(err, segment.ErrFormat) {
			return nil, err
		}
		if err == nil { // else of another tool
			all = append(all, b)
		}
	}
	return all, nil
}

// continued reports whether a history is the beginning of another branch: a device
// that wrote on replaced it.
func (c *cloud) continued(ctx context.Context, p segment.Point, branches []*head.Head) bool {
	for _, b := range branches {
		if b.Transcript.N <= p.N {
			continue
		}
		if on, err := c.has(ctx, p, b.Transcript.Point()); on && err == nil {
			return true
		}
	}
	return false
}

func (e *Syncer) restoreBranch(ctx context.Context, id string, b Branch) error {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	if v.cloud.head.Deleted {
		return ErrDeleted
	}
	if err := v.mayStore(ctx); err != nil {
		return err
	}
	if v.local.present && v.local.main.point() != v.cloud.head.Transcript.Point() && v.cloud.head.Transcript.Point() != b.Extent.Point() {
		return fmt.Errorf("%w: the session here is not in step", ErrDeferred)
	}
	if err := v.switchTo(ctx, b); err != nil {
		return err
	}
	if err := v.cloud.catalogue(ctx); err != nil {
		return err
	}
	if !v.local.present {
		err = v.pull.restore(ctx)
	} else if v.local.main.point() != v.cloud.head.Transcript.Point() {
		err = v.pull.transcript(ctx)
	}
	return errors.Join(err, v.remember())
}

// switchTo makes the head lead to b, if it does not yet.
func (v *examination) switchTo(ctx context.Context, b Branch) error {
	if v.cloud.head.Transcript.Point() == b.Extent.Point() {
		return nil
	}
	known, err := v.cloud.branches(ctx)
	if err != nil && !errors.Is(err, remote.ErrDamaged) {
		return err
	}
	if !slices.ContainsFunc(known, func(k Branch) bool { return k.Extent.Point() == b.Extent.Point() }) {
		return show.Errorf(sessionstore.ErrNotFound, "the cloud has no branch %q", b.ID)
	}
	p := &draft{next: v.push.nextHead(), uploads: v.cloud.uploader()}
	was := v.cloud.head.Transcript
	over := p.next.Retire(head.Old{Point: was.Point(), Bytes: was.Bytes, Rules: was.Rules, Why: "restore", Device: v.Device.ID, At: v.cloud.serverTime()})
	if err := v.cloud.spill(ctx, &p.next.OldMore, remote.Change{Old: over}, p.uploads); err != nil {
		return err
	}
	p.next.Transcript = b.Extent
	p.next.Updated = v.Core.Now()
	return v.push.commit(ctx, p)
}

// Branches returns the histories of a session that are not its main line, the latest
// first. When a list of them is damaged the error Is [remote.ErrDamaged], and the
// others are returned.
func (e *Syncer) Branches(ctx context.Context, id string) ([]Branch, error) {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return nil, err
	}
	defer leave()
	return v.cloud.branches(ctx)
}

// RestoreBranch makes a branch the main line. The error Is [cosmos.ErrContended] when
// other devices changed the session all the time.
func (e *Syncer) RestoreBranch(ctx context.Context, id string, b Branch) error {
	return retry(func() error { return e.restoreBranch(ctx, id, b) })
}
