package foreign

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The files that an import keeps beside a conversation.
const (
	folder       = "import"
	originalFile = "original.jsonl.zst"
	mapFile      = "map.jsonl"
)

// lander makes and updates sessions of one store. A nil store is one that does not
// exist yet, in a dry run.
type lander struct {
	st    *sessionstore.Store
	dry   bool
	p     *sessionstore.Projects
	fixed bool // the caller named the project
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
	return &lander{st, ld.dry, ld.p, false}, err
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
func (ld *lander) keep(h *history, id string) error {
	if ld.st == nil || h.file.kept != nil {
		return nil
	}
	kept, err := os.OpenInRoot(filepath.Join(ld.st.Dir(), id), folder+"/"+originalFile)
	if err != nil { // there is none yet: the tool's file is read
		return nil
	}
	return h.file.keep(kept, h.t.sums)
}

// kept returns the folder in which a session keeps the tool's file.
func (ld *lander) kept(id string) string { return filepath.Join(ld.st.Dir(), id, folder) }

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
