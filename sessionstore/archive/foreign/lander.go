package foreign

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// lander makes and updates sessions of one store. A nil store is one that does not
// exist yet, in a dry run.
type lander struct {
	st    *sessionstore.Store
	dry   bool
	p     *sessionstore.Projects
	fixed bool // the caller named the project

	home, place    string // the session that the history is an export of, and where it keeps the file
	origin, thread string // the session of which the tool forked an export, and the tool's id of that
}

// of returns what makes the session id: in the project that has it, else in this one.
func (ld *lander) of(id string) (*lander, error) {
	if ld.fixed || ld.has(id) {
		return ld, nil
	}
	slug, err := projectWith(ld.p, id)
	if err != nil || slug == "" {
		return ld, err
	}
	st, err := ld.p.Store(slug)
	return &lander{st: st, dry: ld.dry, p: ld.p}, err
}

// has reports whether there is a session.
func (ld *lander) has(id string) bool { return ld.st != nil && core.Of(ld.st).Has(id) }

// transcript returns the first n messages of a session, all where n is below 0.
func (ld *lander) transcript(ctx context.Context, id string, n int) (sessionstore.Revision, error) {
	c := newTally()
	for m, err := range ld.st.Messages(ctx, id) {
		if err != nil {
			return sessionstore.Revision{}, err
		}
		if c.n == n {
			break
		}
		c.add(m)
	}
	return c.revision(), nil
}

// keep lets the tool's file be read where the session keeps it, if it does.
func (ld *lander) keep(h *history, tg target) error {
	if ld.st == nil || h.file.kept != nil {
		return nil
	}
	kept, err := os.OpenInRoot(filepath.Join(ld.st.Dir(), tg.id), tg.place()+"/"+originalFile)
	if err != nil { // there is none yet: the tool's file is read
		return nil
	}
	return h.file.keep(kept, h.t.sums)
}

// kept returns the folder in which a session keeps the tool's file.
func (ld *lander) kept(id, place string) string { return filepath.Join(ld.st.Dir(), id, place) }

// projectWith returns the name of a project that has the session id, "" for none.
func projectWith(p *sessionstore.Projects, id string) (string, error) {
	all, err := os.ReadDir(p.Dir())
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	for _, e := range all {
		if isIn(p, e.Name(), id) {
			return e.Name(), nil
		}
	}
	return "", err
}

func isIn(p *sessionstore.Projects, slug, id string) bool {
	fi, err := os.Lstat(filepath.Join(p.Dir(), slug, "sessions", id))
	return err == nil && fi.IsDir()
}

// projectOf returns the name of the project that a history comes into, whose session has
// the id. One that was imported before stays in its project.
func projectOf(p *sessionstore.Projects, h History, id, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	slug := h.Project()
	if isIn(p, slug, id) {
		return slug, nil
	}
	other, err := projectWith(p, id)
	return cmp.Or(other, slug), err
}

// storeOf returns the store of a project. In a dry run it is nil where there is
// none yet.
func storeOf(ctx context.Context, p *sessionstore.Projects, slug string, dry bool) (*sessionstore.Store, error) {
	if dry {
		slugs, err := p.Slugs(ctx)
		if err != nil || !slices.Contains(slugs, slug) {
			return nil, err
		}
	}
	st, err := p.Store(slug)
	if errors.Is(err, sessionstore.ErrClosed) {
		return nil, err
	}
	return st, err
}
