package syncer

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/head"
	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/syncplan"
)

// permit decides whether the session may leave, and keeps the verdict.
func (v *sessionSync) permit(ctx context.Context) (verdict, error) {
	is := v.judgeNow(ctx, v.id)
	if len(is.above) > len(v.st.Above) { // also while the session is held back
		v.st.Above = is.above
		if err := v.States.Save(v.sid, v.st); err != nil {
			return is, err
		}
	}
	for _, ancestor := range is.unknown {
		if is.held != nil || !v.Core.Has(v.id) {
			break
		}
		known, err := v.inCloud(ctx, ancestor)
		if err != nil {
			return is, err
		}
		if !known {
			is.held = fmt.Errorf("%w: its parent is neither here nor in the cloud; LocalOnly with false releases it", ErrHeld)
		}
	}
	switch {
	case is.held != nil || !v.Core.Has(v.id):
		return is, is.held
	case is.inherited:
		v.st.Rule = replica.Inherited
	case is.kept:
		v.st.Rule = replica.Kept
	case is.child || v.st.Rule != replica.NotJudged:
		v.st.Rule = replica.Leaves
	default:
		return is, nil
	}
	return is, v.States.Save(v.sid, v.st)
}

// mayStore returns why the session must not be changed in the cloud, by the rules of the
// directory and those of its lines there.
func (v *sessionSync) mayStore(ctx context.Context) (err error) {
	if v.verdict, err = v.permit(ctx); err != nil {
		return err
	}
	if v.verdict.kept {
		return ErrLocal
	}
	return errors.Join(v.redactionHolds(), v.rulesHold())
}

// inCloud reports whether the cloud has this session, or the one with the id parent.
func (v *sessionSync) inCloud(ctx context.Context, parent string) (bool, error) {
	if len(v.st.Head.Doc) > 0 {
		return true, nil
	}
	for _, sid := range []string{v.SID(parent), v.sid} {
		doc, err := v.link.HeadDocument(ctx, sid)
		if err != nil || doc != nil {
			return doc != nil, err
		}
	}
	return false, nil
}

// rulesHold returns an error when lines of the session in the cloud went through
// rules that this program does not apply: it must not add lines that did not.
func (v *sessionSync) rulesHold() error { return v.Syncer.rulesHold(v.head) }

// rulesHold is for a session with the head t; nil for none.
func (e *Syncer) rulesHold(t *head.Head) error {
	if t == nil || t.Deleted {
		return nil
	}
	ranges := append([]head.Rules{{Version: t.Redaction}}, t.RulesOf(segment.Transcript)...)
	for st := range t.Logs {
		ranges = append(ranges, t.RulesOf(st)...)
	}
	for _, r := range ranges {
		if r.Version != "" && !e.applies(r.Version) {
			return fmt.Errorf("%w (this session: %q)", ErrRedaction, r.Version)
		}
	}
	return e.followsAnew(t)
}

// followsAnew returns an error when a session was written anew under rules of which those
// of this program may find less: it would send again what was taken out.
func (e *Syncer) followsAnew(t *head.Head) error {
	rules := t.Anew.Rules
	if rules == "" || e.Redact != nil && replica.Follows(e.Redact.Version(), rules) {
		return nil
	}
	return fmt.Errorf("%w (this session was written anew under %q)", ErrRedaction, rules)
}

// withoutRules makes a sync a pull where this program lacks rules of the session, and
// returns why nothing is sent.
func (v *sessionSync) withoutRules(a syncplan.Action) error {
	if v.barred == nil {
		if v.Pull && !diverges(a) {
			return nil
		}
		v.barred = v.rulesHold()
	}
	v.Pull = v.Pull || v.barred != nil
	return v.barred
}

// sends reports whether an action stores lines of the transcript here in the cloud.
func sends(a syncplan.Action) bool {
	return a.Kind == syncplan.Push || a.Kind == syncplan.Rewrite || diverges(a)
}

func diverges(a syncplan.Action) bool {
	return a.Kind == syncplan.Diverge || a.Kind == syncplan.Record
}
