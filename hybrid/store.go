package hybrid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/privacy"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncplan"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/throttle"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/store/private"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// Store is a sessions directory with a copy in the remote. Its methods may be
// called by many goroutines, and many processes may open one directory.
type Store struct {
	*sessionstore.Store
	*workflow.Workflow

	engine *engine // nil: local only
	worker *worker // nil: nothing happens in the background
}

// Open opens dir as [sessionstore.Open] does. Without a remote everything is local: Sync
// and Pull return [ErrNoRemote]. It makes no request, but for one or two where the last success
// was with a remote of another identity: this may be another name of that remote. It waits for
// them as Refresh does, and opens without an answer, too. The manifests are those of
// [workflow.New].
func Open(ctx context.Context, dir string, opts *Options, manifests ...workflow.Manifest) (*Store, error) {
	s, err := open(ctx, dir, opts, nil)
	if err == nil {
		s.Workflow = workflow.New(s.Store, manifests...)
	}
	return s, err
}

func open(ctx context.Context, dir string, opts *Options, hooks *seam.Seam, edit ...func(*engine)) (*Store, error) {
	return openOn(ctx, thisMachine(), dir, opts, hooks, edit...)
}

func openOn(ctx context.Context, on machine, dir string, opts *Options, hooks *seam.Seam, edit ...func(*engine)) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap("open", "", err)
	}
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Remote == nil && o.Identity != "" {
		o.Remote, o.Manual = unasked(o.Identity), true
	}
	if err := o.check(); err != nil {
		return nil, wrap("open", "", err)
	}
	so := sessionstore.Options{}
	if o.Store != nil {
		so = *o.Store
	}
	e := &engine{opts: o, last: map[string]lastStatus{}, Syncer: &syncer.Syncer{Dirty: replica.NewDirtySet()}}
	e.Vanished = e.vanished
	if o.Remote != nil {
		so.OnChange = e.marks(so.OnChange)
	}
	local, err := core.Open(dir, &so, hooks)
	if err != nil {
		return nil, err
	}
	core.Of(local).SetPrivate(o.Private)
	s := &Store{Store: local, Workflow: workflow.New(local)}
	if o.Remote == nil {
		return s, nil
	}
	err = checkPlace(o.Remote, local.Dir())
	if err == nil {
		err = e.complete(ctx, on, local)
	}
	if err != nil {
		return nil, wrap("open", "", errors.Join(err, local.Close()))
	}
	for _, change := range edit {
		change(e)
	}
	s.engine = e
	e.join()
	e.judgeChanged(ctx)
	if !o.Manual {
		if s.worker, err = startWorker(ctx, e); err != nil {
			return nil, wrap("open", "", errors.Join(err, e.leave(), local.Close()))
		}
	}
	return s, nil
}

// checkPlace returns an error for a remote that is a directory within the sessions directory,
// or around it: each would become a part of the other.
func checkPlace(r remote.Remote, sessions string) error {
	placed, ok := r.(interface{ Path() string })
	if !ok {
		return nil
	}
	sessions, err := filepath.EvalSymlinks(sessions)
	if err != nil {
		return err
	}
	for _, at := range [][2]string{{placed.Path(), sessions}, {sessions, placed.Path()}} {
		if to, err := filepath.Rel(at[0], at[1]); err == nil && filepath.IsLocal(to) {
			return fmt.Errorf("%w: the remote %s and the sessions are one within the other: give another directory", ErrBlocked, placed.Path())
		}
	}
	return nil
}

// marks returns an OnChange that marks a written session, announces its use to other
// programs, remembers whether its metadata keep it here, and then calls then.
func (e *engine) marks(then func(sessionstore.Change)) func(sessionstore.Change) {
	return func(c sessionstore.Change) {
		if program := e.Dirty.Changed(c.ID, c.File, c.Op == sessionstore.Removed); program && c.File != "" {
			e.uses(c.ID, c.File == sessiondir.Transcript)
		}
		if c.Op == sessionstore.Wrote && (c.File == sessiondir.Metadata || c.File == "") && e.Privacy != nil && e.Privacy.WasRuled() {
			e.judge(map[string]replica.Reason{c.ID: replica.Written}) // the metadata may be lost, and this program killed
		}
		if then != nil {
			then(c)
		}
	}
}

func (o *Options) check() error {
	if o.Remote != nil && o.Project == "" {
		return errors.New("a remote needs the name of the project")
	}
	if o.Conflict < KeepBoth || o.Conflict > Theirs {
		return fmt.Errorf("policy %d is not known", o.Conflict)
	}
	for _, glob := range o.Private {
		if err := private.CheckGlob(glob); err != nil {
			return fmt.Errorf("glob %q of Options.Private: %w", glob, err)
		}
	}
	return nil
}

// survey remembers which of all sessions stay here: their metadata may be lost before a sync.
func survey(ctx context.Context, g *private.Guard, c core.Store) error {
	if !g.Ruled() {
		return nil
	}
	all, err := c.Entries(ctx)
	if err != nil {
		return err
	}
	return g.Survey(ctx, func(yield func(string) bool) {
		for _, at := range all {
			if !yield(at.Name) {
				return
			}
		}
	})
}

// judgeChanged does that for the sessions that are not known to be in step.
func (e *engine) judgeChanged(ctx context.Context) {
	if !e.Privacy.Ruled() {
		return
	}
	f, err := e.scanAll(ctx)
	if err == nil {
		err = e.Privacy.Survey(ctx, maps.Keys(f.changed))
	}
	e.notRemembered(err)
}

// judge does the same for sessions that were just written, and may be sent much later.
func (e *engine) judge(written map[string]replica.Reason) {
	if len(written) > 0 && e.Privacy.Ruled() {
		e.notRemembered(e.Privacy.Survey(context.Background(), maps.Keys(written)))
	}
}

func (e *engine) notRemembered(err error) {
	if err != nil {
		e.Log.Warn("which sessions stay here is not remembered", "err", err)
	}
}

// remember stores the globs of sessions that must not leave, also for the next store of
// the directory.
func (e *engine) remember(private []string) {
	kept, err := e.States.Globs(private)
	switch {
	case err == nil:
		e.Privacy.Private = kept
	case private != nil:
		e.Privacy.Private = private
		e.Log.Warn("what must not leave is not remembered", "err", err)
	default:
		e.Privacy.Private, e.rulesUnread = []string{"*"}, fmt.Errorf("nothing is sent: %w", err)
		e.Log.Error("nothing is copied: what must not leave is not known; give it", "err", err)
	}
}

// rememberRedaction takes the given rules, and records their version for all programs
// that open the directory. Without any it takes the built-in rules where these are
// recorded. If the directory records other rules, or rules that may find more than the
// given ones, nothing is sent; see [ErrRedaction].
func (e *engine) rememberRedaction() {
	was, err := e.States.Redaction()
	switch given := e.opts.Redact; {
	case given == nil && err == nil && was != "" && replica.BuiltIn(Secrets().Version(), was):
		e.Privacy.Redact = Secrets()
	case given == nil:
	case given.Version() == "":
		err = e.States.SetRedaction("")
	default:
		e.Privacy.Redact = given
		if was == "" || err != nil || was != given.Version() && replica.Follows(given.Version(), was) {
			err = e.States.SetRedaction(given.Version())
		}
	}
	if err != nil {
		e.Log.Error("rules of redaction are not remembered", "err", err)
	}
}

// complete sets the fields that depend on the opened directory.
func (e *engine) complete(ctx context.Context, on machine, local *sessionstore.Store) (err error) {
	e.Identity = segment.Identity{User: e.opts.User, Project: e.opts.Project}
	e.opts.Background = e.opts.Background.complete()
	e.Policy, e.KnownOnly = syncplan.Policy(e.opts.Conflict), e.opts.Background.KnownOnly
	e.Store, e.Core = local, core.Of(local)
	if e.Log = e.opts.Logger; e.Log == nil {
		e.Log = slog.New(slog.DiscardHandler)
	}
	if e.Device, err = e.deviceOf(ctx, on); err != nil {
		return fmt.Errorf("find out which device this is: %w", err)
	}
	if e.opts.Limits == nil {
		e.opts.Limits = &Limits{}
	}
	e.budget = e.opts.Limits.shared()
	if e.Remote = e.opts.Remote; e.Remote != unasked(e.opts.Identity) {
		e.Remote = throttle.New(e.opts.Remote, e.budget, observeRequests(e.opts.Observer))
	}
	e.LargestFile = syncer.LargestFile
	unasked, end := context.WithCancel(ctx)
	end()
	info, _ := e.opts.Remote.Info(unasked) // the identity comes at once: a program opens also where nothing answers
	if e.opts.Limits.RequestUnitsPerSecond > 0 && !info.Units {
		return errors.New("Limits.RequestUnitsPerSecond is set, and this remote counts no request units: leave it 0")
	}
	e.States = replica.NewStates(e.bookkeeping, local.Dir(), e.Device.ID)
	e.address = info.Identity
	e.recallNote()
	e.Privacy = &privacy.Guard{Guard: &private.Guard{Dir: local.Dir(), Sessions: e.Core, Book: e.States.Book}}
	e.remember(e.opts.Private)
	e.rememberRedaction()
	e.States.Sweep()
	e.identify(ctx)
	e.States.OnSave, e.saved = e.Table.Reopen, time.Now()
	e.Stats = replica.NewStats(e.Core, e.Table, e.States.Rules)
	return nil
}

// bookkeeping opens the directory of what is known of the sessions.
func (e *engine) bookkeeping() (*vfs.Dir, error) { return e.Core.Bookkeeping(statesDir) }

// replicaOf names everything that the known state of the sessions depends on.
func (e *engine) replicaOf(remote string) string {
	redaction := ""
	if e.Privacy.Redact != nil {
		redaction = e.Privacy.Redact.Version()
	}
	parts := append([]string{e.Store.Dir(), e.Device.ID, e.UID(), e.opts.Project, remote, redaction}, e.Privacy.Private...)
	return strings.Join(parts, "\x00")
}

// Close sends the writes of this store that the background has not sent yet, for
// Background.CloseWait at most, and closes the store. The error Is [ErrDeferred] when a
// session could not be sent. Its lines stay on the disk, and are sent when the directory
// is opened again. With Options.Manual, Close sends nothing. A second Close does nothing.
func (s *Store) Close() error {
	if s.worker == nil {
		return s.close(context.Background())
	}
	s.worker.stop()
	if s.engine.opts.Background.CloseWait < 0 {
		return s.close(context.Background())
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.engine.opts.Background.CloseWait)
	defer cancel()
	err := s.worker.sendRest(ctx)
	return errors.Join(wrap("close", "", err), s.close(ctx))
}

// Shutdown sends everything that is not sent yet, until ctx ends, and closes the store in
// any case. The error Is [ErrDeferred] when a session could not be sent; see
// [Store.Close].
func (s *Store) Shutdown(ctx context.Context) error {
	if s.engine == nil {
		return s.close(ctx)
	}
	err := s.shutdown(ctx)
	return errors.Join(wrap("shut down", "", err), s.close(ctx))
}

func (s *Store) shutdown(ctx context.Context) error {
	if s.worker == nil {
		f, err := s.engine.scanAll(ctx)
		if err != nil {
			return err
		}
		return s.engine.drain(ctx, slices.Sorted(maps.Keys(f.changed)))
	}
	s.worker.stop()
	s.worker.scan(ctx) // the writes of other programs are sent, too
	return s.worker.sendRest(ctx)
}

// lastSave is how long the close of a store waits for other stores that save the known
// state, when the caller's context has ended.
const lastSave = 50 * time.Millisecond

// close closes the store, also when ctx has ended. It sends nothing.
func (s *Store) close(ctx context.Context) error {
	if s.engine == nil {
		return s.Store.Close()
	}
	s.engine.judge(s.engine.Dirty.Take())
	s.engine.saveNow(ctx)
	if ctx.Err() != nil {
		soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSave)
		defer cancel()
		s.engine.saveNow(soon) // does nothing where the first save succeeded
	}
	err := s.Store.Close()
	left := s.engine.leave() // no write comes after Close
	return errors.Join(wrap("close", "", left), err)
}

// statesDir is the directory of the bookkeeping with the known state of the sessions.
const statesDir = "sync"
