package syncplan

import (
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// choose returns the action for the result of a comparison.
func (in *Input) choose(why Why) (Action, error) {
	switch why {
	case InStep:
		return Action{Kind: Idle, Why: why}, nil
	case LocalAdded:
		return Action{Kind: Push, Why: why}, nil
	case RemoteChanged:
		return in.change(Action{Kind: Pull, Why: why}), nil
	case LocalRewrote:
		return in.checkRules(Action{Kind: Rewrite, Why: why}), nil
	case RemoteRewound:
		if in.Policy == Ours {
			return Action{Kind: Push, Why: why}, nil
		}
		return in.diverge(why)
	case LocalRewound: // nothing to keep: the remote history has all of it
		if in.Policy == Ours {
			return in.ours(why)
		}
		return in.change(Action{Kind: Pull, Why: why}), nil
	}
	if in.Policy == Ours {
		return in.ours(why)
	}
	return in.diverge(why)
}

// diverge keeps the local history as a branch.
func (in *Input) diverge(why Why) (a Action, err error) {
	a = Action{Kind: Diverge, Why: why, Fork: in.Policy == KeepBoth}
	if a.Replaces, err = in.continued(in.Local.Tip, in.Local.Has); err != nil {
		return Action{}, err
	}
	if a.Stored, err = in.stored(in.Local.Tip); err != nil {
		return Action{}, err
	}
	return in.checkRules(in.change(a)), nil
}

// branches returns the branches in the cloud.
func (in *Input) branches() (all []Branch, err error) {
	if in.Remote.Branches != nil {
		all, err = in.Remote.Branches()
	}
	return all, failed(err)
}

// stored reports whether a branch is the history that ends at tip, or continues it.
func (in *Input) stored(tip segment.Point) (bool, error) {
	all, err := in.branches()
	if err != nil {
		return false, err
	}
	for _, b := range all {
		holds, err := on(b.Has, b.Tip, tip)
		if holds || err != nil {
			return holds, failed(err)
		}
	}
	return false, nil
}

// ours continues with the local history, and keeps the remote one as a branch.
func (in *Input) ours(why Why) (a Action, err error) {
	stored, err := in.stored(in.Remote.Tip)
	if err != nil {
		return Action{}, err
	}
	a = Action{Kind: Rewrite, Why: why, KeepRemote: !stored}
	if stored {
		return in.checkRules(a), nil
	}
	if a.Replaces, err = in.continued(in.Remote.Tip, in.Remote.Has); err != nil {
		return Action{}, err
	}
	return in.checkRules(a), nil
}

// continued returns the ids of the branches that are the history which ends at tip, or a
// beginning of it. Such a branch is replaced: a divergence has one branch, however often a
// device that writes on is synced, and nothing of the shorter one is lost.
func (in *Input) continued(tip segment.Point, has Has) (ids []string, err error) {
	all, err := in.branches()
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		continues, err := on(has, tip, b.Tip)
		if err != nil {
			return nil, failed(err)
		}
		if continues {
			ids = append(ids, b.ID)
		}
	}
	return ids, nil
}

// failed wraps the error of a function of the input; nil for none.
func failed(err error) error {
	if err != nil {
		return fmt.Errorf("plan sync: %w", err)
	}
	return nil
}

// change holds back an action that would change the file under a program that is going to
// write it.
func (in *Input) change(a Action) Action {
	switch {
	case !in.Local.Live:
	case a.Kind == Diverge && !a.Stored:
		a.Kind, a.Reason, a.Why, a.Fork = Record, a.Why, LiveWriter, false
	default:
		a = Action{Kind: Behind, Why: LiveWriter, Reason: a.Why}
	}
	return a
}

// checkRules holds back an action that differences made by redaction could have caused:
// under other rules than the tip's nothing is rewritten and nothing forked.
func (in *Input) checkRules(a Action) Action {
	if in.Local.Redaction == in.Remote.Redaction {
		return a
	}
	return Action{Kind: Blocked, Why: OtherRules, Reason: a.Why}
}
