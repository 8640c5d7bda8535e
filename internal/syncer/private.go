package syncer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/replica"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// # What may leave
//
// Rules belong to the directory and follow lineage. A session stays here when its
// own id or name is kept, or when its parent stays. Tools name the parent in several
// ways, in the metadata or beside the log of events, and a session may name more than
// one: then the strictest verdict counts. It is written to the session's state, with the
// parents, so that a child follows it after the parent was removed, and follows a parent
// that is named no more.
// Where something is not known, the session is held back: what nobody can read, and a
// parent that is neither here, nor judged before, nor in the cloud.
// Release releases one session from its parents. Then their ids
// do not leave with it.

// verdict is what the rules say of a session.
type verdict struct {
	kept      bool     // it stays on this machine
	inherited bool     // because its parent does
	unknown   []string // it, or ancestors of it, of which nothing here tells, and the cloud may
	held      error    // why nothing is sent until somebody acts
	child     bool     // it has a parent
	above     []string // its parents
	secret    bool     // the ids of its parents do not leave
}

// and returns what two verdicts on one session, each by another parent, say together.
func (v verdict) and(w verdict) verdict {
	if v.kept || !w.kept && v.held != nil {
		return v
	}
	if !w.kept && w.held == nil {
		w.unknown, w.secret = append(v.unknown, w.unknown...), v.secret || w.secret
	}
	return w
}

// Denied reports whether a session never leaves this machine. It makes no request.
func (e *Syncer) Denied(ctx context.Context, id string) bool {
	return e.judgeNow(ctx, id).kept
}

// Held returns why a session is not sent until somebody acts; nil when no rule
// holds it back. It makes no request.
func (e *Syncer) Held(ctx context.Context, id string) error {
	if err := e.redactionHolds(); err != nil {
		return err
	}
	return e.judgeNow(ctx, id).held
}

// judgeNow finds out what the rules say of a session that are remembered now.
func (e *Syncer) judgeNow(ctx context.Context, id string) verdict {
	r := e.States.Rules()
	e.LocalOnly.Refresh(r)
	return e.judge(ctx, r, id, nil)
}

// judge finds out what rules say of a session. below are the sessions whose ancestor
// it is.
func (e *Syncer) judge(ctx context.Context, r *replica.Rules, id string, below []string) verdict {
	if r.Keeps(id) || e.matches(r, id) {
		return verdict{kept: true}
	}
	st := e.States.Load(e.SID(id), id)
	before := st.Rule
	if !e.Core.Has(id) {
		v := verdict{kept: before == replica.Kept || before == replica.Inherited}
		if before == replica.NotJudged {
			v.unknown = []string{id}
		}
		return v
	}
	md, err := e.Store.Metadata(ctx, id)
	switch {
	case errors.Is(err, sessionstore.ErrNotFound):
	case err != nil:
		return verdict{held: fmt.Errorf("%w: its metadata cannot be read: %w", ErrHeld, err)}
	case e.matches(r, md.Text("name")):
		return verdict{kept: true}
	}
	return e.judgeChild(ctx, r, id, md, st, below)
}

// judgeChild judges a session that no rule of its own keeps, by its metadata.
func (e *Syncer) judgeChild(ctx context.Context, r *replica.Rules, id string, md sessionstore.Metadata, st *replica.SessionState, below []string) verdict {
	before, released := st.Rule, r.Released(id)
	above, err := e.parentsOf(id, md, st.Above)
	if err != nil && !released {
		return verdict{held: fmt.Errorf("%w: %w", ErrHeld, err)}
	}
	parents := slices.DeleteFunc(slices.Clone(above), func(parent string) bool { return parent == id || slices.Contains(below, parent) })
	if len(parents) == 0 {
		kept := before == replica.Inherited && !released
		return verdict{kept: kept, inherited: kept}
	}
	v := verdict{child: true}
	for _, parent := range parents {
		of := e.judge(ctx, r, parent, append(below, id))
		v = v.and(inherit(of, e.Core.Has(parent), released, before))
	}
	v.above = above
	return v
}

// inherit returns what the verdict on a parent says of its child, which was judged before.
func inherit(above verdict, here, released bool, before replica.Rule) verdict {
	v := verdict{child: true}
	switch {
	case released:
		v.secret = above.kept || len(above.unknown) > 0 || above.held != nil
	case above.kept:
		v.kept, v.inherited = true, true
	case above.held != nil:
		v.held = above.held
	case len(above.unknown) == 0:
	case here || before == replica.NotJudged || before == replica.Kept:
		v.unknown = above.unknown
	case before == replica.Inherited:
		v.kept, v.inherited = true, true
	}
	return v
}

// matches reports whether a glob that was given, or is remembered, keeps an id or a
// name. Where the remembered ones cannot be read, or one is malformed, all are kept.
func (e *Syncer) matches(r *replica.Rules, s string) bool {
	remembered, err := r.Globs()
	if err != nil {
		return true
	}
	for _, glob := range append(slices.Clone(e.Deny), remembered...) {
		if ok, err := replica.MatchGlob(glob, s); err != nil || ok && s != "" {
			return true
		}
	}
	return false
}

// redactionHolds returns an error when the directory remembers rules of redaction
// that this program does not apply.
func (e *Syncer) redactionHolds() error {
	version, err := e.States.Rules().Redaction()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRedaction, err)
	}
	if version == "" {
		return nil
	}
	if !e.applies(version) {
		return fmt.Errorf("%w (this directory: %q)", ErrRedaction, version)
	}
	if mine := e.Redact.Version(); !replica.Follows(mine, version) {
		return fmt.Errorf("%w (this directory: %q; %q may find less)", ErrRedaction, version, mine)
	}
	return nil
}

// applies reports whether this program has the rules of a version, or some that
// follow them.
func (e *Syncer) applies(version string) bool {
	return e.Redact != nil && replica.RulesName(e.Redact.Version()) == replica.RulesName(version)
}
