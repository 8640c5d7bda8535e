package syncer

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
)

// plan decides what is to be done about the transcript. Where other rules than those
// of today could be all that the two sides differ in, it finds out first which form the
// lines here were sent in.
func (s *work) plan(ctx context.Context) (syncplan.Action, error) {
	a, err := s.ask(ctx)
	if err != nil || s.Privacy.Redact == nil && s.cloud.head != nil && s.cloud.head.Redaction != "" {
		return a, err
	}
	if a.Kind == syncplan.Blocked {
		if err := s.learnForms(ctx); err != nil {
			return a, err
		}
		if a, err = s.ask(ctx); err != nil {
			return a, err
		}
	}
	if !s.guesses(a) {
		return a, nil
	}
	if found, err := s.learnFormer(ctx); !found || err != nil {
		return a, err
	}
	return s.ask(ctx)
}

// guesses reports whether an action takes lines for new that a former head may have had:
// no base tells.
func (s *work) guesses(a syncplan.Action) bool {
	if s.st.Base != nil || !s.local.present || s.cloud.head == nil || s.cloud.head.Deleted || s.local.main.End().N == 0 {
		return false
	}
	why := a.Why
	if a.Reason != syncplan.InStep {
		why = a.Reason
	}
	return why == syncplan.LocalAdded || why == syncplan.Diverged
}

// ask asks package syncplan.
func (s *work) ask(ctx context.Context) (syncplan.Action, error) {
	s.why = s.local.busy()
	in := syncplan.Input{
		Policy: s.Policy,
		Base:   s.st.Base,
		Local: syncplan.Local{
			Present: s.local.present, Removed: s.st.Gone, Asked: s.Named, Live: s.why != nil, Redaction: s.redaction(),
		},
	}
	if s.local.present {
		in.Local.Tip = s.local.main.Point()
		in.Local.Has = func(p segment.Point) (bool, error) { return s.local.main.Has(ctx, p) }
	}
	if t := s.cloud.head; t != nil {
		in.Remote = syncplan.Remote{
			Present: true, Deleted: t.Deleted, Tip: t.Transcript.Point(), Redaction: s.rulesOf(t),
			Has: func(p segment.Point) (bool, error) { return s.cloud.has(ctx, p, t.Transcript.Point()) },
		}
		if t.Deleted {
			in.Remote.Has = func(segment.Point) (bool, error) { return false, nil } // its segments may be gone
		}
		in.Remote.Replaced = s.cloud.replaced(ctx)
		in.Remote.Branches = func() ([]syncplan.Branch, error) { return s.cloud.planBranches(ctx) }
	}
	return syncplan.Plan(in)
}

// rulesOf returns the version of the rules of a head's lines, by which they can be
// compared with those here: that of today when they can.
func (s *work) rulesOf(t *head.Head) string {
	switch {
	case s.formsKnown || t.AllUnder(s.redaction()) && (s.st.Base != nil || t.Anew.Rules == ""):
		return s.redaction()
	case t.Redaction == s.redaction():
		return "several"
	}
	return t.Redaction
}
