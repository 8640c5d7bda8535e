package syncer

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
)

// permit decides whether the session may leave, and keeps the verdict.
func (c *cloud) permit(ctx context.Context) (privacy.Verdict, error) {
	is := c.Privacy.Judge(ctx, c.id)
	if len(is.Above) > len(c.st.Above) { // also while the session is held back
		c.st.Above = is.Above
		if err := c.States.Save(c.sid, c.st); err != nil {
			return is, err
		}
	}
	for _, ancestor := range is.Unknown {
		if is.Held != nil || !c.Core.Has(c.id) {
			break
		}
		known, err := c.inCloud(ctx, ancestor)
		if err != nil {
			return is, err
		}
		if !known {
			is.Held = fmt.Errorf("%w: its parent is neither here nor in the cloud; Release releases it", privacy.ErrHeld)
		}
	}
	switch {
	case is.Held != nil || !c.Core.Has(c.id):
		return is, is.Held
	case is.Kept:
		if err := c.askWhetherSent(ctx); err != nil {
			return is, err
		}
		if c.st.Rule = replica.Kept; is.Inherited {
			c.st.Rule = replica.Inherited
		}
	case is.Child || c.st.Rule != replica.NotJudged:
		c.st.Rule = replica.Leaves
	default:
		return is, nil
	}
	return is, c.States.Save(c.sid, c.st)
}

// askWhetherSent asks the cloud for a session that a rule keeps here, in a Sync: one that was sent before may have been removed there, and one of which nothing
// is known may have been sent. Where the cloud does not answer, what is known stays.
func (c *cloud) askWhetherSent(ctx context.Context) error {
	_, sent := c.stillThere()
	if !c.asked() || c.fetches || c.recreates || !sent && (c.st.Rule != replica.NotJudged || c.Table.Cursor().Whole) {
		return nil
	}
	t, known, err := c.link.Head(ctx, c.sid, c.st.Head)
	if err == nil && (t == nil || c.st.Born == "" || t.Born == c.st.Born) {
		c.st.See(c.sid, t, known)
	}
	if sent {
		return nil
	}
	return err
}

// inCloud reports whether the cloud has this session, or the one with the id parent. In the
// background the catalogue, which was read as a whole, tells which ones it does not have.
func (c *cloud) inCloud(ctx context.Context, parent string) (bool, error) {
	if len(c.st.Head.Doc) > 0 {
		return true, nil
	}
	for _, sid := range []string{c.SID(parent), c.sid} {
		if _, listed := c.Table.Entry(sid); !listed && !c.asked() && c.Table.Cursor().Whole {
			continue
		}
		doc, err := c.link.HeadDocument(ctx, sid)
		if err != nil || doc != nil {
			return doc != nil, err
		}
	}
	return false, nil
}

// rulesHold returns an error when lines of the session in the cloud went through
// rules that this program does not apply: it must not add lines that did not.
func (c *cloud) rulesHold() error { return c.Syncer.rulesHold(c.head) }

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
		if r.Version != "" && !e.Privacy.Applies(r.Version) {
			return fmt.Errorf("%w (this session: %q)", privacy.ErrRedaction, r.Version)
		}
	}
	return e.followsAnew(t)
}

// followsAnew returns an error when a session was sent anew under rules of which those
// of this program may find less: it would send again what was taken out.
func (e *Syncer) followsAnew(t *head.Head) error {
	rules := t.Anew.Rules
	if rules == "" || e.Privacy.Redact != nil && replica.Follows(e.Privacy.Redact.Version(), rules) {
		return nil
	}
	return fmt.Errorf("%w (this session was sent anew under %q)", privacy.ErrRedaction, rules)
}

// withoutRules makes a sync a pull where this program lacks rules of the session, and
// returns why nothing is sent.
func (v *work) withoutRules(a syncplan.Action) error {
	if v.barred == nil {
		if v.fetches && !diverges(a) {
			return nil
		}
		v.barred = v.cloud.rulesHold()
	}
	v.fetches = v.fetches || v.barred != nil
	return v.barred
}

// sends reports whether an action stores lines of the transcript here in the cloud.
func sends(a syncplan.Action) bool {
	return a.Kind == syncplan.Push || a.Kind == syncplan.Rewrite || diverges(a)
}

func diverges(a syncplan.Action) bool {
	return a.Kind == syncplan.Diverge || a.Kind == syncplan.Record
}
