package hybrid

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Told reports whether session id of st may be told to others than the person whose session it
// is, as to the model of another session. These are not told: a session that is hidden
// ([Store.Hide]) or stays on this machine ([Store.KeepLocal], Options.Private as given or
// remembered), one that descends from such a session or from one in the trash, one of another
// user of the system, one that a program runs now, a symlink, and one that is not here. Where the
// rules cannot be read, nothing is told. Told takes no lock, and remembers no verdict.
func Told(ctx context.Context, st *sessionstore.Store, id string) bool {
	if core.CheckID(id) != nil {
		return false
	}
	fi, err := os.Lstat(filepath.Join(st.Dir(), id)) // the rules do not know other names of a session
	if err != nil || !fi.IsDir() || !ownership.Ours(fi) || core.Of(st).Runs(id) {
		return false
	}
	g := guardOf(st)
	if !private.Remembers(st.Dir()) {
		g.Book = private.NewBook(st.Dir(), noFiles{})
	}
	trash := filepath.Join(st.Dir(), sessiondir.Trash)
	return !g.Stays(ctx, id, func(ancestor string) bool {
		receipts, err := os.ReadDir(trash)
		return err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(receipts, func(r fs.DirEntry) bool {
			_, err := os.Lstat(filepath.Join(trash, r.Name(), "sessions", ancestor))
			return err == nil
		})
	})
}

// guardOf returns the guard of a store without a remote.
func guardOf(st *sessionstore.Store) *private.Guard {
	c := core.Of(st)
	files := private.Opened(func() (*vfs.Dir, error) { return c.Bookkeeping(statesDir) })
	return &private.Guard{Dir: st.Dir(), Sessions: c, Book: private.NewBook(st.Dir(), files), Private: c.Private()}
}

// noFiles are the files of a bookkeeping that does not exist, and is not made.
type noFiles struct{}

func (noFiles) Read(string) ([]byte, error) { return nil, fs.ErrNotExist }
func (noFiles) Write(string, []byte) error  { return nil }
func (noFiles) Stat(names ...string) ([]os.FileInfo, error) {
	return make([]os.FileInfo, len(names)), nil
}
func (noFiles) Names() ([]string, error)    { return nil, nil }
func (noFiles) Alone(do func() error) error { return do() }

// Hide keeps a session, and those that descend from it, from being told to others ([Told]) and
// from leaving this machine, as [Store.KeepLocal] does, until [Store.Unhide]. It needs no
// remote. Programs with an older version of this library keep such a session here, too.
func (s *Store) Hide(ctx context.Context, id string) error {
	return s.rule(ctx, "hide", id, true, func(b *private.Book) error { return b.SetHidden(id, true) })
}

// Unhide takes back [Store.Hide]: the session stays on this machine only where another rule keeps
// it there, as it did before.
func (s *Store) Unhide(ctx context.Context, id string) error {
	return s.rule(ctx, "unhide", id, false, func(b *private.Book) error { return b.SetHidden(id, false) })
}

// Hidden returns the ids of the sessions in the sessions directory dir that [Store.Hide] hid, without
// those that descend from them, and nothing where they cannot be read. It opens no store and reads
// no session: for marks in lists.
func Hidden(dir string) []string { return private.Hidden(dir) }

// rule changes what the rules say of a session. stays reports whether it has to stay here then,
// with its descendants.
func (s *Store) rule(ctx context.Context, op, id string, stays bool, change func(*private.Book) error) error {
	if err := errors.Join(ctx.Err(), core.CheckID(id)); err != nil {
		return wrap(op, id, err)
	}
	g := guardOf(s.Store)
	if s.engine != nil {
		g = s.engine.Privacy.Guard
	}
	err := change(g.Book)
	switch {
	case err == nil && stays:
		err = survey(ctx, g, core.Of(s.Store)) // its descendants are known from now on
	case err == nil && s.engine != nil:
		s.engine.Dirty.Add(id, replica.Written)
	}
	return wrap(op, id, err)
}
