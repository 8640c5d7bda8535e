package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// keptRecord is the PAX record of each file of a session that stays on its machine. Readers
// that do not know it pass over it.
const keptRecord = "SESSIONSTORAGE.local-only"

// Kept reports whether a session of st stays on this machine by the rules of package hybrid
// that its directory remembers, or with which st was opened, or may do so: in doubt it does. A
// tar archive carries that as a mark, by which [Read] keeps the session on the machine where it
// is imported. The other formats carry none.
func Kept(ctx context.Context, st *sessionstore.Store, id string) bool {
	return keptAt(ctx, st.Dir(), core.Of(st).Private(), id)
}

// keptAt is [Kept] of a sessions directory, by globs beside the remembered ones.
func keptAt(ctx context.Context, dir string, globs []string, id string) bool {
	return judgedAt(dir, globs, func(g private.Guard) bool { return g.Stays(ctx, id, nil) })
}

// judgedAt returns what judge says by globs and by the rules of a sessions directory: true in
// doubt, and false where there are none.
func judgedAt(dir string, globs []string, judge func(private.Guard) bool) bool {
	if len(globs) == 0 && !private.Remembers(dir) {
		return false
	}
	base, err := sessiondir.Open(dir, nil)
	if err != nil {
		return true
	}
	defer base.Close() // only read
	g := private.Guard{Dir: dir, Sessions: sessions{base}, Private: globs, Book: private.NewBook(dir, private.Opened(func() (*vfs.Dir, error) { return base.Kept(private.Folder) }))}
	return judge(g)
}

// keptSource reports whether a session's directory is one in a sessions directory that keeps
// it, also when it is in the trash there.
func keptSource(ctx context.Context, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	for _, path := range []string{path, real} {
		for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, sessiondir.Bookkeeping)); err != nil {
				continue
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(path[len(dir):], string(filepath.Separator)), string(filepath.Separator))
			if id == sessiondir.Bookkeeping || id == sessiondir.Trash {
				id = filepath.Base(path)
			}
			if keptAt(ctx, dir, nil, id) {
				return true
			}
		}
	}
	return false
}

// sessions are the sessions of a directory that no store has open.
type sessions struct{ *sessiondir.Base }

func (s sessions) Has(id string) bool { return core.CheckID(id) == nil && s.Base.Has(id) }

func (s sessions) Read(_ context.Context, id string, do func(*sessiondir.Dir) error) error {
	dir, err := s.Dir(id)
	if err != nil {
		return err
	}
	return errors.Join(do(dir), dir.Close())
}

// keep has the new session stay on this machine, durably, before it appears, if it has the mark,
// or is a copy of a session that stays here.
func (x *extraction) keep(ctx context.Context) error {
	x.result.Kept = x.result.Kept || slices.ContainsFunc(x.former, func(id string) bool {
		return id != "" && id != x.result.ID && judgedAt(x.st.Dir(), x.core.Private(), func(g private.Guard) bool { return g.Binds(ctx, id) })
	})
	if !x.result.Kept {
		return nil
	}
	book := private.NewBook(x.st.Dir(), private.Opened(func() (*vfs.Dir, error) { return x.core.Bookkeeping(private.Folder) }))
	if err := book.SetLocalOnly(x.result.ID, true); err != nil {
		return fmt.Errorf("the session has to stay on this machine, as it did where it comes from, and that cannot be recorded: %w", err)
	}
	return nil
}
