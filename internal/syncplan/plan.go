package syncplan

import (
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/segment"
)

// Has reports whether a point lies on a history. It is asked only for points
// that are not longer than the history and have at least one record.
type Has func(segment.Point) (bool, error)

// A Policy says which side a session continues with when both went on
// differently. None of them loses a line.
type Policy int

const (
	KeepBoth Policy = iota // the cloud's; what this device added becomes a branch and a local fork
	Ours                   // this device's; the cloud's becomes a branch
	Theirs                 // the cloud's; what this device added becomes a branch
)

// Local is what this device has.
type Local struct {
	Present   bool
	Removed   bool // it was here and is no more
	Asked     bool // somebody named this session
	Live      bool // another program may hold old lines in memory: the file must not be changed
	Tip       segment.Point
	Has       Has
	Redaction string // version of the rules that its lines went through
}

// Remote is what the cloud has.
type Remote struct {
	Present   bool
	Deleted   bool // a tombstone
	Tip       segment.Point
	Has       Has             // may need requests, so it is asked last
	Old       []segment.Point // former tips
	Replaced  Has             // whether a point lies on the history of a former tip; nil for unknown
	Branches  []Branch
	Redaction string
}

// A Branch is one that the tip lists.
type Branch struct {
	ID     string
	Tip    segment.Point
	Device string
}

// Input is all that a decision is made from.
type Input struct {
	Device string
	Policy Policy
	Local  Local
	Base   *segment.Point // what both had when they were last in step; nil when that is not known
	Remote Remote
}

// Plan decides. Its error is one of the functions that it was given.
func Plan(in Input) (Action, error) {
	switch {
	case !in.Local.Present:
		return in.absent(), nil
	case !in.Remote.Present && in.Base == nil:
		return Action{Kind: Create, Why: New}, nil
	case !in.Remote.Present:
		return Action{Kind: Create, Why: Vanished}, nil
	case in.Remote.Deleted:
		return in.deleted()
	}
	why, err := in.compare()
	if err != nil {
		return Action{}, fmt.Errorf("plan sync: %w", err)
	}
	return in.act(why)
}

// absent decides for a session that is not here.
func (in *Input) absent() Action {
	switch {
	case !in.Remote.Present:
		return Action{Kind: Idle, Why: Nowhere}
	case in.Remote.Deleted:
		return Action{Kind: Idle, Why: DeletedThere}
	case in.Local.Removed && !in.Local.Asked:
		return Action{Kind: Idle, Why: RemovedHere}
	}
	return Action{Kind: Pull, Why: New}
}

// deleted decides for a session that was removed from the cloud: what this
// device had added is told, and stays here.
func (in *Input) deleted() (Action, error) {
	l := &in.Local
	known := l.Tip == in.Remote.Tip || in.Base != nil && l.Tip == *in.Base || slices.Contains(in.Remote.Old, l.Tip)
	if !known {
		var err error
		if known, err = on(in.Remote.Has, in.Remote.Tip, l.Tip); err != nil {
			return Action{}, fmt.Errorf("plan sync: %w", err)
		}
	}
	if known {
		return Action{Kind: Deleted, Why: DeletedThere}, nil
	}
	return Action{Kind: Deleted, Why: AddedSince}, nil
}

// compare tells how the histories stand to each other, in the order of tests
// on which it depends that no rewind comes back and no line is lost.
func (in *Input) compare() (Why, error) {
	l, r := in.Local.Tip, in.Remote.Tip
	switch {
	case l == r:
		return InStep, nil
	case in.Base == nil:
		return in.baseless()
	case l == *in.Base:
		return RemoteChanged, nil
	}
	baseInLocal, err := on(in.Local.Has, l, *in.Base)
	if err != nil {
		return 0, err
	}
	if r == *in.Base {
		if baseInLocal {
			return LocalAdded, nil
		}
		return LocalRewrote, nil
	}
	return in.both(baseInLocal)
}

// both decides when both sides changed.
func (in *Input) both(baseInLocal bool) (Why, error) {
	l, r := in.Local.Tip, in.Remote.Tip
	remoteInLocal, err := on(in.Local.Has, l, r)
	if err != nil {
		return 0, err
	}
	if remoteInLocal {
		if baseInLocal && in.Base.N <= r.N {
			return LocalAdded, nil
		}
		return RemoteRewound, nil
	}
	localInRemote, err := on(in.Remote.Has, r, l)
	switch {
	case err != nil:
		return 0, err
	case localInRemote && baseInLocal:
		return RemoteChanged, nil
	case localInRemote:
		return LocalRewound, nil
	}
	return Diverged, nil
}

// baseless decides when the state of this device was lost, or both sides have
// a session of this name.
func (in *Input) baseless() (Why, error) {
	l, r := in.Local.Tip, in.Remote.Tip
	if slices.Contains(in.Remote.Old, l) {
		return RemoteChanged, nil
	}
	if in.Remote.Replaced != nil && l.N > 0 {
		if old, err := in.Remote.Replaced(l); old || err != nil {
			return RemoteChanged, err
		}
	}
	if prefix, err := on(in.Local.Has, l, r); prefix || err != nil {
		return LocalAdded, err
	}
	if prefix, err := on(in.Remote.Has, r, l); prefix || err != nil {
		return RemoteChanged, err
	}
	return Diverged, nil
}

// on reports whether p lies on the history that ends at tip.
func on(has Has, tip, p segment.Point) (bool, error) {
	switch {
	case p.N > tip.N:
		return false, nil
	case p.N == tip.N:
		return p == tip, nil
	case p.N == 0:
		return true, nil
	}
	return has(p)
}
