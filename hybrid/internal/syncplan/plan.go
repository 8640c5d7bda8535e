package syncplan

import "fmt"

// Plan decides. Its error is an error of a function of the input.
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
	return in.choose(why)
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

// deleted decides for a session that was removed from the cloud: additions of this device
// are reported, and stay here.
func (in *Input) deleted() (Action, error) {
	l := &in.Local
	known := l.Tip == in.Remote.Tip || in.Base != nil && l.Tip == *in.Base
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
