package private

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
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
}

// Verdict is the decision of the rules about a session.
type Verdict struct {
	Kept       bool     // it stays on this machine
	Inherited  bool     // because its parent does
	Remembered bool     // because a glob kept the name that it had before it had none
	Since      string   // when it was created, where a glob keeps the name of the session that had its id before
	Unknown    []string // it, or ancestors of it, that are unknown here, and may be in the remote
	Held       error    // the reason why nothing is sent until a user acts
	Child      bool     // it has a parent
	Above      []string // its parents
	Secret     bool     // the ids of its parents are not sent
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

// binds reports whether a copy of the session stays, too: the session does, or, where there
// are rules, nothing is sent of it.
func (v Verdict) binds(ruled bool) bool { return v.Kept || ruled && v.Held != nil }

// Judge returns the verdict of the rules on a session, and remembers it, durably, where it
// stays or has parents. What cannot be remembered does not leave.
func (g *Guard) Judge(ctx context.Context, id string) Verdict {
	j := g.judging()
	v := j.judge(ctx, id, nil)
	for _, m := range j.notes {
		if err := g.Book.remember(m); err != nil && !v.Kept && v.Held == nil {
			v.Held = fmt.Errorf("%w: its parents cannot be remembered: %w", ErrHeld, err)
		}
	}
	return v
}

// Stays reports whether a copy of a session has to stay on its machine, too: the session does,
// or nothing is sent of it, or an ancestor that is not here is one of gone; nil: none is. It
// remembers nothing.
func (g *Guard) Stays(ctx context.Context, id string, gone func(ancestor string) bool) bool {
	j := g.judging()
	v := j.judge(ctx, id, nil)
	for ancestor := range j.judged {
		v.Kept = v.Kept || gone != nil && !j.Sessions.Has(ancestor) && gone(ancestor)
	}
	return v.Kept || j.ruled(j.rules) && (v.Held != nil || len(v.Unknown) > 0)
}

// Binds reports whether a session that came from the session id stays on this machine, too.
// An id that the directory does not know binds nothing. It remembers nothing.
func (g *Guard) Binds(ctx context.Context, id string) bool {
	j := g.judging()
	return j.judge(ctx, id, nil).binds(j.ruled(j.rules))
}

// Survey remembers which of some sessions stay: metadata may be lost before a sync judges
// them. It returns the first error.
func (g *Guard) Survey(ctx context.Context, ids iter.Seq[string]) error {
	j := g.judging()
	for id := range ids {
		if j.circular {
			j = g.judging()
		}
		if j.judge(ctx, id, nil); ctx.Err() != nil {
			return ctx.Err()
		}
		notes := j.notes
		j.notes = nil
		for _, m := range notes {
			if m.Rule != Kept && m.Rule != Inherited {
				continue
			}
			if err := g.Book.remember(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Ruled reports whether there are rules that keep sessions here: a glob, or a session that
// is local only. Rules that cannot be read count.
func (g *Guard) Ruled() bool { return g.ruled(g.Book.Rules()) }

// WasRuled is Ruled for the rules that were read last. It opens nothing.
func (g *Guard) WasRuled() bool {
	c := &g.Book.rules
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rules != nil && g.ruled(c.rules)
}

func (g *Guard) ruled(r *Rules) bool {
	return r.Err() != nil || len(g.Private)+len(r.globs)+len(r.local.Sessions) > 0
}

// judging is one judgement, of a session and its ancestors.
type judging struct {
	*Guard
	rules  *Rules
	judged map[string]Verdict // of the sessions that were judged: many may have one ancestor
	notes  []memory           // what is to be remembered

	circular bool // sessions name each other as parents: judged may lack what the one says that was judged first
}

func (g *Guard) judging() *judging {
	return &judging{Guard: g, rules: g.Book.Rules(), judged: map[string]Verdict{}}
}

// judge returns the verdict on a session. below are the sessions whose ancestor it is.
func (j *judging) judge(ctx context.Context, id string, below []string) Verdict {
	v, known := j.judged[id]
	if !known {
		v = j.judgeNew(ctx, id, below)
		j.judged[id] = v
	}
	return v
}

func (j *judging) judgeNew(ctx context.Context, id string, below []string) Verdict {
	was, err := j.Book.remembered(id)
	own := j.rules.Keeps(id) || j.matches(id)
	switch {
	case j.rules.Err() != nil:
		return Verdict{Kept: true}
	case err != nil && !own:
		return Verdict{Held: fmt.Errorf("%w: what is remembered of it cannot be read: %w; update this program, or %s", ErrHeld, err, HowToRelease)}
	case err == nil && j.Sessions.Has(id):
		return j.judgeHere(ctx, was, own, below)
	}
	v := Verdict{Kept: own || was.Rule == Inherited || j.holds(was)}
	if !v.Kept && was.Rule == NotJudged {
		v.Unknown = []string{id}
	}
	return v
}

// judgeHere judges a session that is here. own reports whether a rule keeps its id.
func (j *judging) judgeHere(ctx context.Context, was memory, own bool, below []string) Verdict {
	is := j.metadata(ctx, was.Session)
	name := is.text("name")
	named := j.matches(name)
	v := j.judgeChild(ctx, was, is, below)
	switch {
	case own, named:
		v = Verdict{Kept: true, Above: v.Above}
	case v.Kept:
	case j.holds(was) && strings.TrimSpace(is.md.text("name")) == "": // a name in the backup may be older than the one that was kept
		v = Verdict{Kept: true, Remembered: true, Above: v.Above}
	case is.lost != nil && (is.older == nil || j.ruled(j.rules)) && !j.rules.Released(was.Session):
		v = Verdict{Held: fmt.Errorf("%w: its metadata cannot be read: %w; write it anew, or %s", ErrHeld, is.lost, HowToRelease), Above: v.Above}
	}
	if !named {
		name = ""
	}
	created := is.md.text("created")
	if !v.Kept && j.holds(was) && was.Created != "" && was.Created != created {
		v.Since = created
	}
	j.notes = append(j.notes, was.after(v, name, created))
	return v
}

// judgeChild judges a session by its parents alone.
func (j *judging) judgeChild(ctx context.Context, was memory, is described, below []string) Verdict {
	id, released, ruled := was.Session, j.rules.Released(was.Session), j.ruled(j.rules)
	above, err := parentsOf(filepath.Join(j.Dir, id), is, was.Parents)
	below = append(below, id)
	if of := is.text(sessionID); of != "" && !slices.Contains(below, of) && !slices.Contains(above, of) && j.judge(ctx, of, below).binds(ruled) {
		above = append(slices.Clip(above), of) // the directory of that session was copied
	}
	if err != nil && !released && ruled {
		return Verdict{Held: fmt.Errorf("%w: %w", ErrHeld, err), Above: above}
	}
	parents := slices.DeleteFunc(slices.Clone(above), func(parent string) bool {
		j.circular = j.circular || parent != id && slices.Contains(below, parent)
		return slices.Contains(below, parent)
	})
	if len(parents) == 0 {
		kept := was.Rule == Inherited && !released
		return Verdict{Kept: kept, Inherited: kept}
	}
	v := Verdict{Child: true}
	for _, parent := range parents {
		v = v.and(inherit(j.judge(ctx, parent, below), j.Sessions.Has(parent), released, was.Rule, is.text("created")))
	}
	if !ruled {
		v.Held, v.Unknown = nil, nil
	}
	v.Above = above
	return v
}

// inherit returns the verdict on a child by the verdict on a parent. before is the verdict on the
// child when it was judged last.
func inherit(above Verdict, here, released bool, before Rule, created string) Verdict {
	v := Verdict{Child: true}
	switch {
	case released:
		v.Secret = above.Kept || len(above.Unknown) > 0 || above.Held != nil
	case above.Kept:
		v.Kept, v.Inherited = true, true
	case above.Since != "" && (before == Inherited || before == NotJudged && earlier(created, above.Since)): // it is a child of the one before
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

// earlier reports whether a time of creation is known to be before another.
func earlier(created, than string) bool {
	at := pytime.Of(created)
	return !at.IsZero() && at.Before(pytime.Of(than))
}

// matches reports whether a given or remembered glob keeps an id or a name.
func (j *judging) matches(s string) bool {
	fits := func(glob string) bool { return fitsNormal(glob, s) }
	return s != "" && (slices.ContainsFunc(j.Private, fits) || slices.ContainsFunc(j.rules.globs, fits))
}

// holds reports whether the rule that kept a session by its name is still there. Which one it
// was is not known from programs that did not remember the name.
func (j *judging) holds(m memory) bool {
	return m.Rule == Kept && (j.matches(m.Name) || m.Name == "" && len(j.Private)+len(j.rules.globs) > 0)
}
