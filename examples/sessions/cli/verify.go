package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/verify"
)

type verifyCommand struct {
	Sessions []string `arg:"" optional:"" name:"session" help:"Only these sessions (default: all)."`
	everywhere
	NoEvents bool `help:"Do not read the audit logs."`
	Mend     bool `help:"Write recovered files anew, and keep the damaged ones."`
}

// Help is shown below the usage.
func (verifyCommand) Help() string {
	return `Reads transcript, metadata, audit log and the other files of every session, in all projects, and changes nothing unless told to. Told are sessions that are

    damaged    neither a file nor its backup can be read; what can be is shown
    recovered  a file is damaged and its backup is read instead
    pending    another tool's append was cut off; the backup counts
    strict     the older tools read it, the newer ones refuse it
    backup     the backup of a sound file is damaged
    log        the audit log has lines that are no events
    state      another file that tools keep there has lines or JSON that cannot be read
    foreign    a directory that holds nothing of a session, a symlink, or a
               file that a program which copies folders left there

--mend writes what was recovered anew, as the next save of a host would do too; the damaged file is kept beside it. The exit code is 1 when something is told, other than of an empty directory or of a symlink that leads to a session here.`
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
	note    bool   // nothing is wrong with it: the reference lists it, too
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
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
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
	problems, bad, wrong := []problem{}, 0, 0
	for _, f := range found {
		problems = append(problems, f...)
		bad += min(len(f), 1)
		if slices.ContainsFunc(f, func(p problem) bool { return !p.note }) {
			wrong++
		}
	}
	err = a.answer(object{{"sessions", len(all)}, {"sound", len(all) - bad}, {"problems", problems}}, func() {
		a.problemTable(problems)
		a.verdict(len(all), bad, a.now().Sub(started))
	})
	return errors.Join(err, partly(wrong))
}

// sessions returns the sessions to look at. It warns of projects and sessions that cannot
// be read.
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
	stores, closed, err := a.stores(c.where)
	if err != nil {
		return nil, err
	}
	for _, st := range stores {
		infos, err := st.List(a.ctx, &sessionstore.ListOptions{All: true})
		if err != nil {
			closed = errors.Join(closed, err)
		}
		for _, info := range infos {
			all = append(all, target{st, info.ID})
		}
		for _, id := range lost(st.Dir()) {
			all = append(all, target{st, id})
		}
	}
	for _, err := range each(closed) { // no other command says more
		a.warn(err)
	}
	return all, nil
}

// lost returns the symlinks in a sessions directory that lead nowhere, which lists
// leave out.
func lost(dir string) (ids []string) {
	entries, _ := os.ReadDir(dir) // List has returned the error
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && !strings.HasPrefix(e.Name(), ".") {
			if _, err := os.Stat(filepath.Join(dir, e.Name())); err != nil {
				ids = append(ids, e.Name())
			}
		}
	}
	return ids
}

// look returns the problems of a session, and with --mend writes recovered files anew.
func (c *verifyCommand) look(ctx context.Context, t target) (found []problem) {
	add := func(state, file string, line int, text string) {
		found = append(found, problem{
			Project: filepath.Base(filepath.Dir(t.store.Dir())), Session: t.id,
			State: state, File: file, Line: line, Text: text, Path: t.dir(),
		})
	}
	recovered := false
	for f, err := range verify.Check(ctx, t.store, t.id, &verify.Options{NoEvents: c.NoEvents}) {
		if err != nil {
			return found
		}
		add(string(f.Kind), f.File, f.Line, findingText(f.Err))
		found[len(found)-1].note = errors.Is(f.Err, verify.ErrSymlink) || errors.Is(f.Err, verify.ErrNoSession)
		recovered = recovered || f.Kind == verify.Recovered
	}
	if c.Mend && recovered {
		if err := mend(ctx, t); err != nil {
			add("not mended", "", 0, explain(err))
		}
	}
	return found
}

// findingText returns the text of a problem.
func findingText(err error) string {
	log := (*verify.LogError)(nil)
	if errors.As(err, &log) {
		return fmt.Sprintf("%s of %d are no events, or have a time that cannot be read", count(log.Skipped, "line"), log.Lines)
	}
	return explain(err)
}

// mend writes the recovered transcript and metadata of a session anew. It returns an
// error when another writer comes in between, and keeps the files of that writer.
func mend(ctx context.Context, t target) error {
	s, err := t.store.Load(ctx, t.id)
	if err != nil {
		return err
	}
	if _, err := t.store.Replace(ctx, t.id, s.Revision, s.Messages); err != nil {
		return err
	}
	_, err = t.store.UpdateMetadata(ctx, t.id, func(*sessionstore.Metadata) error { return nil })
	return err
}
