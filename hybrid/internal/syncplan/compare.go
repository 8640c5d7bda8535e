package syncplan

import "github.com/amplifier-go/sessionstorage/hybrid/internal/segment"

// compare returns the relation of the two histories. The order of its tests ensures that
// no rewind comes back and no line is lost.
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

// on reports whether p is on the history that ends at tip.
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
