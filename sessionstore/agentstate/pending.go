package agentstate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/approvals"
)

// Verdict is the state of a stored approval.
type Verdict string

// The verdicts, with their texts in pending_approvals.json.
const (
	Undecided Verdict = approvals.Undecided
	Approved  Verdict = approvals.Approved
	Rejected  Verdict = "rejected"
	Ran       Verdict = "ran"
)

// The errors that callers branch on, with [errors.Is]. ErrRejected Is ErrNotApproved, too.
var (
	ErrOtherCall   = errors.New("approval is for another call")
	ErrNotApproved = errors.New("call is not approved")
	ErrRejected    = limits.Errorf(ErrNotApproved, "call was rejected")
	ErrRan         = errors.New("call ran already")
)

var errVerdict = fmt.Errorf("%w: verdict is neither approved nor rejected", ErrInvalid)

// Approval is a call that waits for the user's approval, or has its verdict.
type Approval struct {
	ID        string
	Call      json.RawMessage // nil once a stored one ran
	Requested time.Time       // of one in a [Runtime]
	Verdict   Verdict         // of a stored one

	digest string // of the bytes of Call: SHA-256, in hexadecimal; of a call that ran: digestRan
	mark   string // of an approval, by the key of the sessions directory where it was given
}

func digest(call []byte) string {
	sum := sha256.Sum256(call)
	return hex.EncodeToString(sum[:])
}

// digestRan returns what stays of a call that ran: 64 bits, equal for calls that are the same
// by [sameCall]. A stored call that ran is refused whatever its digest, so they need not be
// more.
func digestRan(call []byte) string {
	message, err := stored(call)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(message)
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// sameCall reports whether two calls are the same value for the tool: they are equal
// as a transcript stores arguments.
func sameCall(a, b []byte) bool {
	a, err := stored(a)
	if err == nil {
		b, err = stored(b)
	}
	return err == nil && bytes.Equal(a, b)
}

// stored returns a message with the call as its arguments, as a transcript has it.
func stored(call []byte) ([]byte, error) {
	if err := pyjson.Check(call, pyjson.Tolerant); err != nil {
		return nil, err
	}
	message := slices.Concat([]byte(`{"tool_calls": [{"arguments": `), call, []byte(`}]}`))
	return pyjson.AppendMessage(nil, message, pyjson.Style{Replace: true})
}

// argumentsOf returns the arguments of a call. They are an empty object if there are none, as
// in [sessionstore.ToolCallMessage].
func argumentsOf(arguments []byte) []byte {
	if len(arguments) == 0 {
		return []byte(`{}`)
	}
	return pyjson.Trim(arguments)
}

// KeepPending stores that a call, any JSON value, waits for approval under an
// id that no approval of this session ever had, else the error Is
// [ErrPending]. An empty call is {}. A program whose model uses ids again adds
// something to them, such as the number of the turn.
func (s *State) KeepPending(ctx context.Context, id string, call json.RawMessage) error {
	return s.changeApprovals(ctx, "keep pending approval", func(list []Approval) ([]Approval, error) {
		if findApproval(list, id) != nil {
			return nil, ErrPending
		}
		return keep(list, id, argumentsOf(call))
	})
}

// keep returns list with a new approval of a call.
func keep(list []Approval, id string, call []byte) ([]Approval, error) {
	switch {
	case id == "":
		return nil, fmt.Errorf("%w: the id is empty", ErrInvalid)
	case pyjson.Check(call, pyjson.Tolerant) != nil:
		return nil, fmt.Errorf("%w: the call is not JSON", ErrInvalid)
	}
	return append(list, Approval{ID: id, Call: call, Verdict: Undecided}), nil
}

// Decide stores the user's verdict, [Approved] or [Rejected]. The same verdict may be
// given again. A call can be rejected after it was approved until it is claimed. After
// [State.Claim] the error Is [ErrRan]. For a call that was rejected, approving it Is
// [ErrNotPending], as is an id that was never kept. An approval counts in this session of
// this sessions directory alone.
func (s *State) Decide(ctx context.Context, id string, v Verdict) error {
	return s.changeApprovals(ctx, "decide approval", func(list []Approval) ([]Approval, error) {
		k := findApproval(list, id)
		switch {
		case v != Approved && v != Rejected:
			return nil, errVerdict
		case k == nil:
			return nil, ErrNotPending
		case k.Verdict == Ran:
			return nil, ErrRan
		case k.Verdict != v && k.Verdict != Undecided && k.Verdict != Approved:
			return nil, ErrNotPending
		}
		k.Verdict, k.mark = v, "" // the same one is stored again, since its first write may have failed before it was durable
		if v == Approved {
			secret, err := s.madeKey(ctx)
			if err != nil {
				return nil, err
			}
			k.mark = s.callMark(secret, *k)
		}
		return list, nil
	})
}

// Claim allows to run a call that was approved, and only once. The call is the one that
// was kept, in the same bytes or as a transcript stores it, else the error Is
// [ErrOtherCall]. It is stored as run before Claim returns, so a process that is killed in
// between does not run it, and no other one does. The error Is [ErrRejected] after a
// rejection, and [ErrNotApproved] alone where the user is to be asked.
//
// Approvals do not follow a transcript that is rewound or that diverges. So after a restart
// a program goes through the calls of the transcript that have no result, and not through
// [State.Approvals]: see the example Resume of package accept.
func (s *State) Claim(ctx context.Context, id string, call json.RawMessage) error {
	return s.changeApprovals(ctx, "claim approval", func(list []Approval) ([]Approval, error) {
		k := findApproval(list, id)
		if k == nil {
			return nil, ErrNotPending
		}
		err := k.isOf(argumentsOf(call))
		switch {
		case err != nil:
			return nil, err
		case k.Verdict != Approved:
			return nil, ErrNotApproved
		}
		secret, err := s.readKey()
		if err == nil && !s.approvedHere(secret, *k) {
			err = ErrNotApproved
		}
		k.ran()
		return list, err
	})
}

// ClaimDecided stores the verdict of a user who was just asked about a call, and allows to run
// it if that is [Approved]: KeepPending unless the id was kept, Decide, and Claim in one write.
// The error Is [ErrRejected] once a rejection is stored, or was stored before; else it is as of
// these three.
func (s *State) ClaimDecided(ctx context.Context, id string, call json.RawMessage, v Verdict) error {
	err := s.changeApprovals(ctx, "claim decided approval", func(list []Approval) (_ []Approval, err error) {
		call = argumentsOf(call)
		if v != Approved && v != Rejected {
			return nil, errVerdict
		}
		k := findApproval(list, id)
		if k == nil {
			list, err = keep(list, id, call)
			k = findApproval(list, id)
		} else if err = k.isOf(call); err == nil && k.Verdict != Undecided && k.Verdict != Approved {
			err = ErrNotPending
		}
		if err != nil {
			return nil, err
		}
		if k.Verdict, k.mark = v, ""; v == Approved {
			k.ran()
		}
		return list, nil
	})
	if err == nil && v == Rejected {
		err = wrapError("claim decided approval", ErrRejected)
	}
	return err
}

// isOf returns why an approval allows a call in no case: it is of another one, it was rejected, or
// it ran.
func (a *Approval) isOf(call []byte) error {
	switch {
	case a.Verdict == Ran && a.digest == digestRan(call):
		return ErrRan
	case a.Verdict == Ran, a.digest != digest(a.Call), !sameCall(call, a.Call):
		return ErrOtherCall
	case a.Verdict == Rejected:
		return ErrRejected
	}
	return nil
}

// ran leaves of an approval what is kept of a call that ran.
func (a *Approval) ran() { *a = Approval{ID: a.ID, Verdict: Ran, digest: digestRan(a.Call)} }

// Approvals returns all approvals that were kept, oldest first. A call that was approved in
// another session or sessions directory is [Undecided]. Of one that ran the ID is left.
func (s *State) Approvals(ctx context.Context) ([]Approval, error) {
	list, err := s.kept(ctx)
	isApproved := func(k Approval) bool { return k.Verdict == Approved }
	if err == nil && slices.ContainsFunc(list, isApproved) {
		var secret key
		secret, err = s.readKey()
		for i, k := range list {
			if isApproved(k) && !s.approvedHere(secret, k) {
				list[i].Verdict = Undecided
			}
		}
	}
	return list, wrapError("read pending approvals", err)
}

// kept returns the approvals with the verdicts that are in the file.
func (s *State) kept(ctx context.Context) (list []Approval, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		o, err := readObject(dir, pendingFile)
		if err == nil {
			list, err = readApprovals(o.raw)
		}
		return err
	})
	return list, err
}

func findApproval(list []Approval, id string) *Approval {
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

func (s *State) changeApprovals(ctx context.Context, what string, edit func([]Approval) ([]Approval, error)) error {
	err := s.changing(ctx, func(tx core.Tx) error {
		return s.changeObject(ctx, tx, pendingFile, func(raw []byte) ([]byte, error) {
			list, err := readApprovals(raw)
			if err == nil {
				list, err = edit(list)
			}
			if err != nil {
				return nil, err
			}
			return pyjson.Splice(raw, approvals.Calls, writeApprovals(member(raw, approvals.Calls), list)), nil
		})
	})
	return wrapError(what, err)
}

func readApprovals(raw []byte) (list []Approval, err error) {
	all := member(raw, approvals.Calls)
	if all != nil && pyjson.KindOf(all) != pyjson.Array {
		return nil, fmt.Errorf("read %s: %w: approvals are not an array", pendingFile, ErrDamaged)
	}
	for v := range pyjson.Elements(all) {
		k := Approval{
			ID: pyjson.Text(member(v, "id")), Verdict: Verdict(pyjson.Text(member(v, approvals.Verdict))),
			digest: pyjson.Text(member(v, "digest")), mark: pyjson.Text(member(v, approvals.Mark)),
		}
		if call, found := pyjson.Lookup(v, "call"); found {
			k.Call = bytes.Clone(call) // null is a call too
		}
		if ran, found := pyjson.Lookup(v, approvals.Ran); found {
			k = Approval{ID: k.ID, Verdict: Ran, digest: pyjson.Text(ran)}
		} else if k.Verdict == Ran { // as earlier versions stored it
			k = Approval{ID: k.ID, Verdict: Ran, digest: digestRan(k.Call)}
		}
		list = append(list, k)
	}
	return list, nil
}

// writeApprovals returns list as an array; members that old has besides are kept. Of a call
// that ran its id and digest are written.
func writeApprovals(old []byte, list []Approval) []byte {
	var all [][]byte
	for v := range pyjson.Elements(old) {
		all = append(all, v)
	}
	for i, k := range list {
		if i == len(all) {
			entry := pyjson.Splice([]byte("{}"), "id", pyjson.Quote(k.ID))
			if k.Verdict == Ran {
				entry = pyjson.Splice(entry, approvals.Ran, pyjson.Quote(k.digest))
			} else {
				entry = pyjson.Splice(entry, "digest", pyjson.Quote(digest(k.Call)))
				entry = pyjson.Splice(entry, "call", k.Call)
			}
			all = append(all, entry)
		}
		if k.Verdict != Ran {
			all[i] = withText(withText(all[i], approvals.Verdict, string(k.Verdict)), approvals.Mark, k.mark)
			continue
		}
		if _, dropped := pyjson.Lookup(all[i], approvals.Ran); dropped {
			continue
		}
		for _, name := range []string{"digest", "call", approvals.Verdict, approvals.Mark} {
			all[i] = pyjson.Remove(all[i], name)
		}
		all[i] = pyjson.Splice(all[i], approvals.Ran, pyjson.Quote(k.digest))
	}
	return pyjson.ArrayOf(all)
}

// withText returns entry with a member that is text, or without it when text is empty.
func withText(entry []byte, name, text string) []byte {
	switch {
	case pyjson.Text(member(entry, name)) == text:
		return entry
	case text == "":
		return pyjson.Remove(entry, name)
	}
	return pyjson.Splice(entry, name, pyjson.Quote(text))
}
