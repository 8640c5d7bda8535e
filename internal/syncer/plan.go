package syncer

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/remote"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// plan decides what is to be done about the transcript. Where other rules than those
// of today could be all that the two sides differ in, it finds out first which form the
// lines here were sent in.
func (v *sessionSync) plan(ctx context.Context) (syncplan.Action, error) {
	a, err := v.ask(ctx)
	if err != nil || v.Redact == nil && v.cloud.head != nil && v.cloud.head.Redaction != "" {
		return a, err
	}
	if a.Kind == syncplan.Blocked {
		if err := v.learnForms(ctx); err != nil {
			return a, err
		}
		if a, err = v.ask(ctx); err != nil {
			return a, err
		}
	}
	if !v.guesses(a) {
		return a, nil
	}
	if found, err := v.learnFormer(ctx); !found || err != nil {
		return a, err
	}
	return v.ask(ctx)
}

// guesses reports whether an action takes lines for new that a former head may have had:
// no base tells.
func (v *sessionSync) guesses(a syncplan.Action) bool {
	if v.st.Base != nil || !v.local.present || v.cloud.head == nil || v.cloud.head.Deleted || v.local.main.end().N == 0 {
		return false
	}
	why := a.Why
	if a.Reason != syncplan.InStep {
		why = a.Reason
	}
	return why == syncplan.LocalAdded || why == syncplan.Diverged
}

// ask asks package syncplan.
func (v *sessionSync) ask(ctx context.Context) (syncplan.Action, error) {
	v.why = v.local.busy()
	in := syncplan.Input{
		Policy: v.Policy,
		Base:   v.st.Base,
		Local: syncplan.Local{
			Present: v.local.present, Removed: v.st.Gone, Asked: v.Named, Live: v.why != nil, Redaction: v.redaction(),
		},
	}
	if v.local.present {
		in.Local.Tip = v.local.main.point()
		in.Local.Has = func(p segment.Point) (bool, error) { return v.local.main.has(ctx, p) }
	}
	if t := v.cloud.head; t != nil {
		in.Remote = syncplan.Remote{
			Present: true, Deleted: t.Deleted, Tip: t.Transcript.Point(), Redaction: v.rulesOf(t),
			Has: func(p segment.Point) (bool, error) { return v.cloud.has(ctx, p, t.Transcript.Point()) },
		}
		if t.Deleted {
			in.Remote.Has = func(segment.Point) (bool, error) { return false, nil } // its segments may be gone
		}
		in.Remote.Replaced = v.cloud.replaced(ctx)
		for _, o := range t.Old {
			in.Remote.Old = append(in.Remote.Old, o.Point)
		}
		branches := t.Branches
		if v.local.present && !t.Deleted && v.local.main.point() != t.Transcript.Point() { // else nobody asks for more of them
			var err error
			if branches, err = v.cloud.lists.Branches(ctx, v.cloud.head); err != nil && !errors.Is(err, remote.ErrDamaged) {
				return syncplan.Action{}, err
			}
		}
		for _, b := range branches {
			in.Remote.Branches = append(in.Remote.Branches, syncplan.Branch{ID: b.ID, Tip: b.Tip, Has: v.cloud.branchHas(ctx, b.Tip)})
		}
	}
	return syncplan.Plan(in)
}

// rulesOf returns the version of the rules of a head's lines, by which they can be
// compared with those here: that of today when they can.
func (v *sessionSync) rulesOf(t *head.Head) string {
	switch {
	case v.formsKnown || t.AllUnder(v.redaction()) && (v.st.Base != nil || t.Anew.Generation == 0):
		return v.redaction()
	case t.Redaction == v.redaction():
		return "several"
	}
	return t.Redaction
}
