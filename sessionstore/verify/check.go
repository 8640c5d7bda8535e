package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options control a check. A nil *Options is the zero value.
type Options struct {
	// NoEvents leaves out the event logs, which may be far larger than all else.
	NoEvents bool
}

// check is one check of a session.
type check struct {
	ctx     context.Context
	id      string
	dir     string
	opts    Options
	yield   func(Finding, error) bool
	stopped bool // the caller wants no more findings
	found   int
}

// ended reports whether the check ends early.
func (c *check) ended() bool { return c.stopped || c.ctx.Err() != nil }

// add yields a finding.
func (c *check) add(k Kind, file string, line int, err error) {
	if c.ended() {
		return
	}
	c.found++
	c.stopped = !c.yield(Finding{Session: c.id, Kind: k, File: file, Line: line, Err: err}, nil)
}

// Kind is a kind of finding.
type Kind string

// The kinds of findings.
const (
	Damaged   Kind = "damaged"   // neither the file nor its backup can be read, or the directory cannot
	Recovered Kind = "recovered" // the file is damaged; the backup is read instead
	Pending   Kind = "pending"   // another tool's append was cut off, or is under way; the backup is read instead
	Strict    Kind = "strict"    // the older Amplifier tools read the session, the newer ones refuse it
	Backup    Kind = "backup"    // the file is sound; its backup is damaged
	Log       Kind = "log"       // an event log has lines that are no events, or cannot be read
	State     Kind = "state"     // another file of the session has lines or JSON that cannot be read
	Foreign   Kind = "foreign"   // the directory holds no file of a session, or is a symlink, or another program left something in it
)

// Finding is a fault of a session.
type Finding struct {
	Session string
	Kind    Kind
	File    string // below the session's directory, with slashes; "" for the session as a whole
	Line    int    // from 1; 0 for the file as a whole
	Err     error  // the fault; of the kind Log, it may be a *LogError
}

func (f Finding) String() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if place != "" {
		place += ": "
	}
	return fmt.Sprintf("session %q: %s: %s%v", f.Session, f.Kind, place, f.Err)
}

// LogError counts the lines of an event log that are no events, or have a time that cannot
// be read.
type LogError struct{ Skipped, Lines int }

func (e *LogError) Error() string {
	return fmt.Sprintf("%d of %d lines are no events, or have a time that cannot be read", e.Skipped, e.Lines)
}

// The errors of findings of the kind Foreign and State.
var (
	ErrSymlink   = errors.New("it is a symlink, which no tool removes and which may lead elsewhere")
	ErrNoSession = errors.New("the directory holds no file of a session")

	errNoObject = errors.New("it is no JSON object")
	errTooLarge = errors.New("it is larger than 256 MiB and was not checked")
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
			ids, err = vfs.LostLinks(st.Dir())
		}
		if err != nil {
			yield(Finding{}, err)
			return
		}
		for _, info := range infos {
			ids = append(ids, info.ID)
		}
		for _, id := range ids {
			for f, err := range Check(ctx, st, id, opts) {
				if !yield(f, err) || err != nil {
					return
				}
			}
		}
	}
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
	case errors.Is(err, fs.ErrNotExist), c.ended():
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
	c.foreignFiles(st)
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
