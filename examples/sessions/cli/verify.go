package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type verifyCommand struct {
	Sessions []string `arg:"" optional:"" name:"session" help:"Only these sessions (default: all)."`
	where
	NoEvents bool `help:"Do not read the audit logs."`
	Mend     bool `help:"Write recovered files anew, and keep the damaged ones."`
}

// Help is shown below the usage.
func (verifyCommand) Help() string {
	return `Reads transcript, metadata and audit log of every session, in all projects, and changes nothing unless told to. Told are sessions that are

    damaged    neither a file nor its backup can be read; what can be is shown
    recovered  a file is damaged and its backup is read instead
    pending    another tool's append was cut off; the backup counts
    strict     the older tools read it, the newer ones refuse it
    log        the audit log has lines that are no events
    foreign    a directory that holds nothing of a session, or a symlink

--mend writes what was recovered anew, as the next save of a host would do too; the damaged file is kept beside it. The exit code is 1 when something is told.`
}

// problem is something that is wrong with a session.
type problem struct {
	Project string `json:"project"`
	Session string `json:"session_id"`
	State   string `json:"state"`
	File    string `json:"file"`
	Line    int    `json:"line"` // 0: the whole file
	Text    string `json:"text"`
	Path    string `json:"path"`
}

// Run verifies.
func (c *verifyCommand) Run(a *app) error {
	all, err := c.sessions(a)
	if err != nil {
		return err
	}
	started := a.now()
	bar := a.Progress("verifying", len(all))
	found := make([][]problem, len(all))
	var next sync.Mutex
	at := 0
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		wait.Go(func() {
			for {
				next.Lock()
				i := at
				at++
				next.Unlock()
				if i >= len(all) || a.ctx.Err() != nil {
					return
				}
				found[i] = c.look(a.ctx, all[i])
				bar.Step(1)
			}
		})
	}
	wait.Wait()
	bar.Done()
	if err := a.ctx.Err(); err != nil {
		return err
	}
	problems, bad := []problem{}, 0
	for _, f := range found {
		problems = append(problems, f...)
		bad += min(len(f), 1)
	}
	if a.json {
		err = a.writeJSON(struct {
			Sessions int       `json:"sessions"`
			Sound    int       `json:"sound"`
			Problems []problem `json:"problems"`
		}{len(all), len(all) - bad, problems}, jsonIndent)
	} else {
		a.problemTable(problems)
		a.verdict(len(all), bad, a.now().Sub(started))
	}
	return errors.Join(err, partly(bad))
}

// sessions returns the sessions to look at. Those of projects that nothing can
// be read of are told as they are met.
func (c *verifyCommand) sessions(a *app) (all []target, err error) {
	for _, ref := range c.Sessions {
		t, err := (anywhere{ref, c.where}).reach(a)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if len(c.Sessions) > 0 {
		return all, nil
	}
	stores, err := a.stores(c.where)
	if err != nil {
		return nil, err
	}
	for _, st := range stores {
		infos, err := st.List(a.ctx, &sessionstore.ListOptions{All: true})
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			all = append(all, target{st, info.ID})
		}
	}
	return all, nil
}

// look returns what is wrong with a session.
func (c *verifyCommand) look(ctx context.Context, t target) (found []problem) {
	add := func(state, file string, line int, text string) {
		found = append(found, problem{
			Project: filepath.Base(filepath.Dir(t.store.Dir())), Session: t.id,
			State: state, File: file, Line: line, Text: text, Path: t.dir(),
		})
	}
	fi, err := os.Lstat(t.dir())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // it was removed since
	case err == nil && fi.Mode()&fs.ModeSymlink != 0:
		add("foreign", "", 0, "it is a symlink, which no tool removes and which may lead elsewhere")
	}
	if !c.holds(t) {
		add("foreign", "", 0, "the directory holds no file of a session")
		return found
	}
	c.stored(ctx, t, add)
	if !c.NoEvents {
		c.logs(ctx, t, add)
	}
	return found
}

// holds reports whether a directory has a file that sessions have.
func (c *verifyCommand) holds(t target) bool {
	for _, name := range []string{
		sessiondir.Transcript, sessiondir.Metadata, "events.jsonl", "config.md", "profile.md", "profile.toml", "context-intelligence",
		sessiondir.Backup(sessiondir.Transcript), sessiondir.Backup(sessiondir.Metadata), "session-state.json",
	} {
		if _, err := os.Lstat(filepath.Join(t.dir(), name)); err == nil {
			return true
		}
	}
	return false
}

// stored looks at the transcript and the metadata. What the newer tools read
// without a remark is sound for all.
func (c *verifyCommand) stored(ctx context.Context, t target, add func(state, file string, line int, text string)) {
	st, err := sessionstore.Open(t.store.Dir(), nil) // one that does not keep what it reads
	if err != nil {
		add("damaged", "", 0, explain(err))
		return
	}
	defer st.Close()
	_, notes, refused := st.LoadStrict(ctx, t.id)
	if refused == nil && len(notes) == 0 || ctx.Err() != nil {
		return
	}
	tell := func(state string, err error, file string) {
		all := damages(err)
		for _, d := range all {
			add(state, filepath.Base(d.Path), d.Line, d.Err.Error())
		}
		if len(all) == 0 {
			add(state, file, 0, explain(err))
		}
	}
	s, err := st.Load(ctx, t.id)
	strict := (*sessionstore.StrictError)(nil)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		tell("damaged", err, "")
	case s.Recovered != nil:
		state := "recovered"
		if _, err := os.Lstat(filepath.Join(t.dir(), sessiondir.Marker)); err == nil {
			state = "pending"
		}
		tell(state, s.Recovered.Reason, filepath.Base(s.Recovered.Path))
		if c.Mend && state == "recovered" {
			if err := mend(ctx, st, s); err != nil {
				add("not mended", "", 0, explain(err))
			}
		}
	case errors.As(refused, &strict):
		tell("strict", strict.Err, strict.Source)
	}
}

// mend writes what was recovered of a session anew. Another writer that comes
// between is an error, and what it wrote stays.
func mend(ctx context.Context, st *sessionstore.Store, s *sessionstore.Session) error {
	if _, err := st.Replace(ctx, s.ID, s.Revision, s.Messages); err != nil {
		return err
	}
	_, err := st.UpdateMetadata(ctx, s.ID, func(*sessionstore.Metadata) error { return nil })
	return err
}

// far is after every event.
var far = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// logs looks at the audit logs.
func (c *verifyCommand) logs(ctx context.Context, t target, add func(state, file string, line int, text string)) {
	for _, dir := range []string{"", "context-intelligence"} {
		log, err := eventslog.Open(filepath.Join(t.dir(), dir), nil)
		if err != nil {
			continue
		}
		cut, err := log.Cut(ctx, io.Discard, far, "", "")
		_ = log.Close() // only read
		file := filepath.ToSlash(filepath.Join(dir, "events.jsonl"))
		switch {
		case errors.Is(err, fs.ErrNotExist), ctx.Err() != nil:
		case err != nil:
			add("log", file, 0, explain(err))
		case cut.Skipped > 0:
			add("log", file, 0, fmt.Sprintf("%s of %d are no events, or have a time that cannot be read", count(cut.Skipped, "line"), cut.Events+cut.Skipped))
		}
	}
}

// damages returns what an error tells of damaged files.
func damages(err error) (all []*sessionstore.CorruptError) {
	switch e := err.(type) {
	case *sessionstore.CorruptError:
		return []*sessionstore.CorruptError{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, damages(one)...)
		}
	case interface{ Unwrap() error }:
		return damages(e.Unwrap())
	}
	return all
}
