package verify

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Store checks all sessions of st, one after the other, and yields what it
// finds. A session that is removed meanwhile is passed over. The error comes
// last: when the sessions cannot be listed, or at the end of ctx. Programs that
// want several processors to check call [Session] from several goroutines.
func Store(ctx context.Context, st *sessionstore.Store, opts *Options) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		infos, err := st.List(ctx, &sessionstore.ListOptions{All: true})
		if err != nil {
			yield(Finding{}, err)
			return
		}
		for i, info := range infos {
			for f, err := range Session(ctx, st, info.ID, opts) {
				if !yield(f, err) || err != nil {
					return
				}
			}
			if opts != nil && opts.Progress != nil {
				opts.Progress(i+1, len(infos))
			}
		}
	}
}

// Session checks session id of st and yields what it finds. A session that does
// not exist has no findings. The error comes last, at the end of ctx.
func Session(ctx context.Context, st *sessionstore.Store, id string, opts *Options) iter.Seq2[Finding, error] {
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
	}
	if !c.isSession() {
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
}

// isSession reports whether the directory has a file that sessions have.
func (c *check) isSession() bool {
	for _, name := range []string{
		sessiondir.Transcript, sessiondir.Metadata, "events.jsonl", "config.md", "profile.md", "profile.toml", "context-intelligence",
		sessiondir.Backup(sessiondir.Transcript), sessiondir.Backup(sessiondir.Metadata), "session-state.json",
	} {
		if _, err := os.Lstat(filepath.Join(c.dir, name)); err == nil {
			return true
		}
	}
	return false
}
