package hybrid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/tip"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Branch is a history of a session that is not its main line: one that a
// device had when another went on, or a former tip that a rewrite replaced.
type Branch struct {
	ID       string    // of this history, for [Store.Restore]
	Messages int       // in all
	Common   int       // that it shares with the tip it left; 0 where that is not known
	Device   string    // that wrote it, or replaced it
	At       time.Time // when it was left
	Why      string    // branch, rewrite or restore
	KeptAs   string    // session that holds it on that device; "" for none

	reach tip.Reach
}

const listBranches = `SELECT * FROM c WHERE c.pk = @pk AND c.type = 'branch' ORDER BY c.updated`

// Branches returns the histories of a session that are not its main line, the
// latest first, as long as the cloud keeps them. When a list of them is damaged
// the error Is [ErrDamaged], and the others are returned.
func (s *Store) Branches(ctx context.Context, id string) ([]Branch, error) {
	if s.engine == nil {
		return nil, wrap("list branches", id, ErrNoContainer)
	}
	s.engine.budget.reopen()
	v, leave, err := s.engine.examine(ctx, id)
	if err != nil {
		return nil, wrap("list branches", id, err)
	}
	defer leave()
	all, err := v.branches(ctx)
	return all, wrap("list branches", id, err)
}

// examine begins a visit that only reads, of a session that the cloud has.
func (e *engine) examine(ctx context.Context, id string) (*visit, func(), error) {
	leave, err := e.enter(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	v := e.begin(id, want{asked: true, named: true})
	err = v.look(ctx)
	if err == nil {
		err = v.readTip(ctx)
	}
	if err == nil && v.tip == nil {
		err = sessionstore.ErrNotFound
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return v, leave, nil
}

func (v *visit) branches(ctx context.Context) (all []Branch, err error) {
	seen := map[segment.Point]bool{v.tip.Transcript.Point(): true}
	add := func(b Branch) {
		if !seen[b.reach.Point()] {
			seen[b.reach.Point()] = true
			b.ID, b.Messages = segment.BranchID(v.sid, b.reach.Point()), int(b.reach.N)
			all = append(all, b)
		}
	}
	former, lost := v.formerTips(ctx)
	known, gone := v.listedBranches(ctx)
	if lost = errors.Join(lost, gone); lost != nil && !errors.Is(lost, ErrDamaged) {
		return nil, lost
	}
	listed := map[string]tip.Branch{}
	for _, b := range known {
		listed[b.ID] = b
	}
	for _, o := range former {
		add(Branch{Device: o.Device, At: o.At, Why: o.Why, reach: tip.Reach{N: o.N, Hash: o.Hash, Bytes: o.Bytes, Buckets: o.Buckets}})
	}
	for row, err := range v.link.query(ctx, v.pk, listBranches) {
		if err != nil {
			return nil, err
		}
		b, err := tip.Decode(row, v.sid)
		if errors.Is(err, segment.ErrNewer) {
			return nil, err
		}
		if err != nil {
			continue // of another tool
		}
		entry := listed[segment.BranchID(v.sid, b.Transcript.Point())]
		add(Branch{
			Common: int(entry.Common), Device: b.Writer.Device, At: b.Updated, Why: "branch", KeptAs: entry.KeptAs, reach: b.Transcript,
		})
	}
	slices.SortStableFunc(all, func(a, b Branch) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
	return all, lost
}

// Restore makes a branch the session's main line, on every device; what was
// the main line becomes a branch. What this device has not sent yet is sent
// first. Where somebody runs the session here, its files follow later. b must
// be one that Branches returned.
func (s *Store) Restore(ctx context.Context, id string, b Branch) error {
	if s.engine == nil {
		return wrap("restore", id, ErrNoContainer)
	}
	if s.engine.in.Has(id) {
		if _, err := s.Sync(ctx, id); err != nil {
			return err
		}
	}
	for range rounds {
		err := s.engine.restoreBranch(ctx, id, b)
		if !errors.Is(err, errLost) && !errors.Is(err, errMoved) {
			return wrap("restore", id, err)
		}
	}
	return wrap("restore", id, ErrContended)
}

func (e *engine) restoreBranch(ctx context.Context, id string, b Branch) error {
	v, leave, err := e.examine(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	if v.tip.Deleted {
		return ErrDeleted
	}
	if v.present && v.main.point() != v.tip.Transcript.Point() && v.tip.Transcript.Point() != b.reach.Point() {
		return fmt.Errorf("%w: the session here is not in step", ErrDeferred)
	}
	if err := v.switchTo(ctx, b); err != nil {
		return err
	}
	if !v.present {
		err = v.restore(ctx)
	} else if v.main.point() != v.tip.Transcript.Point() {
		err = v.pullMain(ctx)
	}
	return errors.Join(err, v.remember())
}

// switchTo makes the tip lead to b, if it does not yet.
func (v *visit) switchTo(ctx context.Context, b Branch) error {
	if v.tip.Transcript.Point() == b.reach.Point() {
		return nil
	}
	known, err := v.branches(ctx)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if !slices.ContainsFunc(known, func(k Branch) bool { return k.reach.Point() == b.reach.Point() }) {
		return fmt.Errorf("branch %q: %w", b.ID, sessionstore.ErrNotFound)
	}
	p := &parcel{next: v.draft(), box: &outbox{link: v.link, pk: v.pk}}
	was := v.tip.Transcript
	over := p.next.Retire(tip.Old{Point: was.Point(), Bytes: was.Bytes, Buckets: was.Buckets, Why: "restore", Device: v.dev.id, At: v.serverTime()})
	if err := v.spill(ctx, &p.next.OldMore, over, nil, p.box); err != nil {
		return err
	}
	p.next.Transcript = b.reach
	p.next.Updated = v.in.Now()
	return v.commit(ctx, p)
}
