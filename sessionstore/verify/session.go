package verify

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// CheckAll checks all sessions of st, one after the other, and yields its findings, also of
// symlinks that lead nowhere. A session that is removed in between is passed over. The
// error comes last: when the sessions cannot be listed, or at the end of ctx. Programs that
// want several processors to check call [Check] from several goroutines.
func CheckAll(ctx context.Context, st *sessionstore.Store, opts *Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		infos, err := st.List(ctx, &sessionstore.ListOptions{All: true})
		var ids []string
		if err == nil {
			ids, err = lost(st.Dir())
		}
		if err != nil {
			yield(Finding{}, err)
			return
		}
		for _, info := range infos {
			ids = append(ids, info.ID)
		}
		for i, id := range ids {
			for f, err := range Check(ctx, st, id, opts) {
				if !yield(f, err) || err != nil {
					return
				}
			}
			if opts != nil && opts.Progress != nil {
				opts.Progress(i+1, len(ids))
			}
		}
	}
}

// lost returns the symlinks in a sessions directory that lead nowhere, or whose target
// cannot be examined. A list leaves them out.
func lost(dir string) (ids []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); e.Type()&fs.ModeSymlink != 0 && name[0] != '.' {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				ids = append(ids, name)
			}
		}
	}
	return ids, err
}

// Check checks session id of st and yields its findings. A session that does not exist has
// no findings. The error comes last, at the end of ctx.
func Check(ctx context.Context, st *sessionstore.Store, id string, opts *Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		c := check{ctx: ctx, id: id, dir: filepath.Join(st.Dir(), id), yield: yield}
		if opts != nil {
			c.opts = *opts
		}
		c.run(st)
		if err := ctx.Err(); err != nil && !c.stopped {
			yield(Finding{}, err)
		}
	}
}

func (c *check) run(st *sessionstore.Store) {
	fi, err := os.Lstat(c.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), c.over():
		return
	case err == nil && fi.Mode()&fs.ModeSymlink != 0:
		c.add(Foreign, "", 0, ErrSymlink)
		if _, err := os.Stat(c.dir); err != nil {
			c.add(Damaged, "", 0, vfs.Lost(err))
			return
		}
	}
	switch is, err := c.isSession(); {
	case err != nil:
		c.add(Damaged, "", 0, err)
		return
	case !is:
		c.add(Foreign, "", 0, ErrNoSession)
		return
	}
	before := c.found
	c.stored(st)
	if c.found == before {
		c.backups()
	}
	if !c.opts.NoEvents {
		c.logs()
	}
	c.states()
	c.copies(st)
}

// isSession reports whether the directory has a file that sessions have. The error is the
// reason why it cannot be examined.
func (c *check) isSession() (bool, error) {
	for _, name := range []string{
		sessiondir.Transcript, sessiondir.Metadata, "events.jsonl", "config.md", "profile.md", "profile.toml", "context-intelligence",
		sessiondir.Backup(sessiondir.Transcript), sessiondir.Backup(sessiondir.Metadata), "session-state.json",
	} {
		if _, err := os.Lstat(filepath.Join(c.dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}
