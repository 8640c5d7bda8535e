package privacy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/track"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The errors of this package, for [errors.Is]. Package hybrid documents them.
var (
	ErrRedaction = errors.New("rules of redaction hold here that this program does not apply")
	ErrHeld      = errors.New("session is held back, since it is not known whether a rule keeps it on this machine")
	ErrLocal     = errors.New("a rule keeps the session on this machine")
	ErrKeptLate  = fmt.Errorf("%w, but came after it was sent: the cloud has what was sent, until Remove removes it", ErrLocal)
)

// Guard decides which sessions of a directory may leave this machine. It makes no request. Its
// fields are set before the first call; its methods may be called by many goroutines.
type Guard struct {
	Store   *sessionstore.Store
	Core    core.Store
	States  *replica.States
	SID     func(id string) string // the id that a session has in the remote
	Private []string               // globs of ids and names of sessions that never leave this machine
	Redact  track.Redactor         // nil: exact bytes
}

// Verdict is the decision of the rules about a session.
type Verdict struct {
	Kept      bool     // it stays on this machine
	Inherited bool     // because its parent does
	Unknown   []string // it, or ancestors of it, that are unknown here, and may be in the cloud
	Held      error    // the reason why nothing is sent until a user acts
	Child     bool     // it has a parent
	Above     []string // its parents
	Secret    bool     // the ids of its parents are not sent
}

// and combines two verdicts on one session, each by another parent.
func (v Verdict) and(w Verdict) Verdict {
	if v.Kept || !w.Kept && v.Held != nil {
		return v
	}
	if !w.Kept && w.Held == nil {
		w.Unknown, w.Secret = append(v.Unknown, w.Unknown...), v.Secret || w.Secret
	}
	return w
}

// Keeps reports whether a session never leaves this machine. It makes no request.
func (g *Guard) Keeps(ctx context.Context, id string) bool {
	return g.Judge(ctx, id).Kept
}

// Held returns the reason why a session is not sent until a user acts; nil when no rule
// holds it back. It makes no request.
func (g *Guard) Held(ctx context.Context, id string) error {
	if err := g.RedactionHolds(); err != nil {
		return err
	}
	return g.Judge(ctx, id).Held
}

// Judge returns the verdict of the stored rules on a session.
func (g *Guard) Judge(ctx context.Context, id string) Verdict {
	return g.judge(ctx, g.States.Rules(), id, nil)
}

// judge returns the verdict of rules on a session. below are the sessions whose ancestor
// it is.
func (g *Guard) judge(ctx context.Context, r *replica.Rules, id string, below []string) Verdict {
	if r.Keeps(id) || g.matches(r, id) {
		return Verdict{Kept: true}
	}
	st := g.States.Load(g.SID(id), id)
	before := st.Rule
	if !g.Core.Has(id) {
		v := Verdict{Kept: before == replica.Kept || before == replica.Inherited}
		if before == replica.NotJudged {
			v.Unknown = []string{id}
		}
		return v
	}
	md, err := g.Store.Metadata(ctx, id)
	switch {
	case errors.Is(err, sessionstore.ErrNotFound):
	case err != nil:
		return Verdict{Held: fmt.Errorf("%w: its metadata cannot be read: %w", ErrHeld, err)}
	case g.matches(r, md.Text("name")):
		return Verdict{Kept: true}
	}
	return g.judgeChild(ctx, r, id, md, st, below)
}

// judgeChild judges a session that no rule of its own keeps, by its metadata.
func (g *Guard) judgeChild(ctx context.Context, r *replica.Rules, id string, md sessionstore.Metadata, st *replica.SessionState, below []string) Verdict {
	before, released := st.Rule, r.Released(id)
	above, err := parentsOf(filepath.Join(g.Store.Dir(), id), md, st.Above)
	if err != nil && !released {
		return Verdict{Held: fmt.Errorf("%w: %w", ErrHeld, err)}
	}
	parents := slices.DeleteFunc(slices.Clone(above), func(parent string) bool { return parent == id || slices.Contains(below, parent) })
	if len(parents) == 0 {
		kept := before == replica.Inherited && !released
		return Verdict{Kept: kept, Inherited: kept}
	}
	v := Verdict{Child: true}
	for _, parent := range parents {
		of := g.judge(ctx, r, parent, append(below, id))
		v = v.and(inherit(of, g.Core.Has(parent), released, before))
	}
	v.Above = above
	return v
}

// inherit returns the verdict on a child, which was judged before, by the verdict on a
// parent.
func inherit(above Verdict, here, released bool, before replica.Rule) Verdict {
	v := Verdict{Child: true}
	switch {
	case released:
		v.Secret = above.Kept || len(above.Unknown) > 0 || above.Held != nil
	case above.Kept:
		v.Kept, v.Inherited = true, true
	case above.Held != nil:
		v.Held = above.Held
	case len(above.Unknown) == 0:
	case here || before == replica.NotJudged || before == replica.Kept:
		v.Unknown = above.Unknown
	case before == replica.Inherited:
		v.Kept, v.Inherited = true, true
	}
	return v
}

// matches reports whether a given or stored glob keeps an id or a name. Where the stored
// ones cannot be read, or one is malformed, all are kept.
func (g *Guard) matches(r *replica.Rules, s string) bool {
	remembered, err := r.Globs()
	if err != nil {
		return true
	}
	for _, glob := range append(slices.Clone(g.Private), remembered...) {
		if ok, err := replica.MatchGlob(glob, s); err != nil || ok && s != "" {
			return true
		}
	}
	return false
}

// RedactionHolds returns an error when the directory remembers rules of redaction
// that this program does not apply.
func (g *Guard) RedactionHolds() error {
	version, err := g.States.Rules().Redaction()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRedaction, err)
	}
	if version == "" {
		return nil
	}
	if !g.Applies(version) {
		return fmt.Errorf("%w (this directory: %q)", ErrRedaction, version)
	}
	if own := g.Redact.Version(); !replica.Follows(own, version) {
		return fmt.Errorf("%w (this directory: %q; %q may find less)", ErrRedaction, version, own)
	}
	return nil
}

// Applies reports whether this program has the rules of a version, or some that follow
// them.
func (g *Guard) Applies(version string) bool {
	return g.Redact != nil && replica.RulesName(g.Redact.Version()) == replica.RulesName(version)
}
