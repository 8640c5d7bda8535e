package syncplan

import "fmt"

// Kind is what is to be done.
type Kind int

const (
	Idle    Kind = iota // nothing
	Create              // store the session and make its first tip
	Push                // store the new lines and move the tip on
	Pull                // make the local transcript that of the tip
	Rewrite             // store from the first differing line on, move the tip, note the former one
	Diverge             // make the local history a branch, then pull
	Record              // make the local history a branch, and leave the file alone
	Behind              // wait: the file must not be changed now
	Blocked             // wait until somebody acts
	Deleted             // tell that the session was removed from the cloud; keep the files
)

// Why is the reason.
type Why int

const (
	InStep        Why = iota
	Nowhere           // neither here nor there
	New               // on one side only
	Vanished          // the tip that this device knows is gone, with no tombstone
	DeletedThere      // removed from the cloud; this device added nothing
	AddedSince        // removed from the cloud; this device has lines that the tombstone does not cover
	RemovedHere       // removed from this device
	LocalAdded        // the local history continues the remote one
	LocalRewrote      // rewound, repaired or edited here, nothing new there
	RemoteChanged     // added to, or rewound, there; nothing new here
	LocalRewound      // rewound here and added to there
	RemoteRewound     // rewound there and added to here
	Diverged          // both went on differently
	LiveWriter        // another program may save what it has in memory
	OtherRules        // lines went through other redaction rules, so that differences mean nothing
)

// An Action is a decision.
type Action struct {
	Kind Kind
	Why  Why
	// Reason is why the file had to be changed when Kind is Behind or Record
	// for the sake of a live writer, or what Blocked keeps from being done.
	Reason Why

	Fork       bool   // of Diverge: the branch becomes a local session too
	Stored     bool   // of Diverge and Record: the branch is listed already, by the id Replaces
	Replaces   string // of Diverge and Record: id of the branch that this one continues; "" for none
	KeepRemote bool   // of Rewrite: the former tip becomes a branch, not only an old tip
}

// act turns what was found into what is to be done.
func (in *Input) act(why Why) (Action, error) {
	switch why {
	case InStep:
		return Action{Kind: Idle, Why: why}, nil
	case LocalAdded:
		return Action{Kind: Push, Why: why}, nil
	case RemoteChanged:
		return in.change(Action{Kind: Pull, Why: why}), nil
	case LocalRewrote:
		return in.judged(Action{Kind: Rewrite, Why: why}), nil
	case RemoteRewound:
		if in.Policy == Ours {
			return Action{Kind: Push, Why: why}, nil
		}
		return in.diverge(why)
	case LocalRewound: // nothing to be kept: the remote history has all of it
		if in.Policy == Ours {
			return in.judged(Action{Kind: Rewrite, Why: why, KeepRemote: true}), nil
		}
		return in.change(Action{Kind: Pull, Why: why}), nil
	}
	if in.Policy == Ours {
		return in.judged(Action{Kind: Rewrite, Why: why, KeepRemote: true}), nil
	}
	return in.diverge(why)
}

// diverge keeps the local history as a branch. A branch that it continues is
// replaced, so that a device has one however often it is asked.
func (in *Input) diverge(why Why) (Action, error) {
	a := Action{Kind: Diverge, Why: why, Fork: in.Policy == KeepBoth}
	var best *Branch
	for i := range in.Remote.Branches {
		b := &in.Remote.Branches[i]
		if b.Device != in.Device || best != nil && best.Tip.N >= b.Tip.N {
			continue
		}
		continues, err := on(in.Local.Has, in.Local.Tip, b.Tip)
		if err != nil {
			return Action{}, fmt.Errorf("plan sync: %w", err)
		}
		if continues {
			best = b
		}
	}
	if best != nil {
		a.Replaces, a.Stored = best.ID, best.Tip == in.Local.Tip
	}
	return in.judged(in.change(a)), nil
}

// change holds an action back that would change the file under a program that
// is going to write it.
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

// judged holds an action back that differences made by redaction could have
// caused: with other rules than those of the tip nothing is rewritten and
// nothing forked.
func (in *Input) judged(a Action) Action {
	if in.Local.Redaction == in.Remote.Redaction {
		return a
	}
	return Action{Kind: Blocked, Why: OtherRules, Reason: a.Why}
}
