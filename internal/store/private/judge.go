package private

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

// The errors of this package, for [errors.Is]. Package hybrid documents them.
var (
	ErrHeld  = errors.New("session is held back, since it is not known whether a rule keeps it on this machine")
	ErrLocal = errors.New("a rule keeps the session on this machine")
)

// Sessions are the sessions of a directory.
type Sessions interface {
	// Has reports whether there is a session id.
	Has(id string) bool

	// Read runs do with the directory of session id.
	Read(ctx context.Context, id string, do func(*sessiondir.Dir) error) error
}

// Guard decides which sessions of a directory may leave this machine. It makes no request. Its
// fields are set before the first call; its methods may be called by many goroutines.
type Guard struct {
	Dir      string // the sessions directory
	Sessions Sessions
	Book     *Book
	Private  []string // globs of ids and names of sessions that never leave this machine, beside the remembered ones

	Before func(id string) (Rule, []string) // the last verdict on a session, and its parents
}

// Rule is the verdict of the rules of the directory when the session was judged last. It
// outlives the session's parent.
type Rule string

// The rules.
const (
	NotJudged Rule = ""
	Kept      Rule = "kept"      // it stays on this machine by a rule on itself
	Inherited Rule = "inherited" // it stays because its parent does
	Leaves    Rule = "leaves"
)

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

// Judge returns the verdict of the stored rules on a session.
func (g *Guard) Judge(ctx context.Context, id string) Verdict {
	return g.judge(ctx, g.Book.Rules(), id, nil)
}

// judge returns the verdict of rules on a session. below are the sessions whose ancestor
// it is.
func (g *Guard) judge(ctx context.Context, r *Rules, id string, below []string) Verdict {
	if r.Keeps(id) || g.matches(r, id) {
		return Verdict{Kept: true}
	}
	before, above := g.Before(id)
	if !g.Sessions.Has(id) {
		v := Verdict{Kept: before == Kept || before == Inherited}
		if before == NotJudged {
			v.Unknown = []string{id}
		}
		return v
	}
	md, err := g.metadata(ctx, id)
	switch {
	case err != nil:
		return Verdict{Held: fmt.Errorf("%w: its metadata cannot be read: %w", ErrHeld, err)}
	case g.matches(r, md.text("name")):
		return Verdict{Kept: true}
	}
	return g.judgeChild(ctx, r, id, md, before, above, below)
}

// judgeChild judges a session that no rule of its own keeps, by its metadata.
func (g *Guard) judgeChild(ctx context.Context, r *Rules, id string, md metadata, before Rule, known, below []string) Verdict {
	released := r.Released(id)
	above, err := parentsOf(filepath.Join(g.Dir, id), md, known)
	if err != nil && !released {
		return Verdict{Held: fmt.Errorf("%w: %w", ErrHeld, err)}
	}
	parents := slices.DeleteFunc(slices.Clone(above), func(parent string) bool { return parent == id || slices.Contains(below, parent) })
	if len(parents) == 0 {
		kept := before == Inherited && !released
		return Verdict{Kept: kept, Inherited: kept}
	}
	v := Verdict{Child: true}
	for _, parent := range parents {
		of := g.judge(ctx, r, parent, append(below, id))
		v = v.and(inherit(of, g.Sessions.Has(parent), released, before))
	}
	v.Above = above
	return v
}

// inherit returns the verdict on a child, which was judged before, by the verdict on a
// parent.
func inherit(above Verdict, here, released bool, before Rule) Verdict {
	v := Verdict{Child: true}
	switch {
	case released:
		v.Secret = above.Kept || len(above.Unknown) > 0 || above.Held != nil
	case above.Kept:
		v.Kept, v.Inherited = true, true
	case above.Held != nil:
		v.Held = above.Held
	case len(above.Unknown) == 0:
	case here || before == NotJudged || before == Kept:
		v.Unknown = above.Unknown
	case before == Inherited:
		v.Kept, v.Inherited = true, true
	}
	return v
}

// matches reports whether a given or stored glob keeps an id or a name. Where the stored
// ones cannot be read, or one is malformed, all are kept.
func (g *Guard) matches(r *Rules, s string) bool {
	remembered, err := r.Globs()
	if err != nil {
		return true
	}
	for _, glob := range append(slices.Clone(g.Private), remembered...) {
		if ok, err := MatchGlob(glob, s); err != nil || ok && s != "" {
			return true
		}
	}
	return false
}
