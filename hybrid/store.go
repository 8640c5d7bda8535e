package hybrid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// Store is a sessions directory with a copy in the cloud. Its methods may be
// called by many goroutines, and many processes may open one directory.
type Store struct {
	*sessionstore.Store
	*workflow.Log

	engine *engine // nil: local only
	worker *worker // nil: nothing happens in the background
}

// Open opens dir as [sessionstore.Open] does. Without a container everything
// is local: Sync and Pull do nothing and say so. It makes no request.
func Open(ctx context.Context, dir string, opts *Options) (*Store, error) {
	return open(ctx, dir, opts, nil)
}

func open(ctx context.Context, dir string, opts *Options, seam *fault.Seam, edit ...func(*engine)) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap("open", "", err)
	}
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if err := o.check(); err != nil {
		return nil, wrap("open", "", err)
	}
	so := sessionstore.Options{}
	if o.Store != nil {
		so = *o.Store
	}
	e := &engine{opts: o, container: o.Container, busy: map[string]chan struct{}{}, status: map[string]Status{}, marks: newMarks()}
	if o.Container != nil {
		so.OnChange = hear(&e.marks, so.OnChange)
	}
	local, err := sessionstore.Inside{}.Open(dir, &so, seam)
	if err != nil {
		return nil, err
	}
	s := &Store{Store: local, Log: workflow.New(local, o.Manifests...)}
	if o.Container == nil {
		return s, nil
	}
	if err := e.complete(local); err != nil {
		return nil, wrap("open", "", errors.Join(err, local.Close()))
	}
	for _, change := range edit {
		change(e)
	}
	s.engine = e
	if !o.Disabled {
		if s.worker, err = startWorker(ctx, e); err != nil {
			return nil, wrap("open", "", errors.Join(err, local.Close()))
		}
	}
	return s, nil
}

// hear makes writes known to the marks, and then to whoever asked before.
func hear(m *marks, then func(sessionstore.Change)) func(sessionstore.Change) {
	return func(c sessionstore.Change) {
		m.heard(c)
		if then != nil {
			then(c)
		}
	}
}

func (o *Options) check() error {
	if o.Container != nil && o.Project == "" {
		return errors.New("a container needs the name of the project")
	}
	if o.Conflict < KeepBoth || o.Conflict > Theirs {
		return fmt.Errorf("policy %d is not known", o.Conflict)
	}
	for _, glob := range o.Deny {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("glob %q: %w", glob, err)
		}
	}
	return nil
}

// remember keeps in mind what must not leave, also for the next store of the
// directory.
func (e *engine) remember(deny []string) {
	kept, err := e.states.globs(deny)
	switch {
	case err == nil:
		e.opts.Deny = kept
	case deny != nil:
		e.log.Warn("what must not leave is not remembered", "err", err)
	default:
		e.opts.Deny = []string{"*"}
		e.log.Error("nothing is copied: what must not leave is not known; give it", "err", err)
	}
}

// complete fills in what depends on the opened directory.
func (e *engine) complete(local *sessionstore.Store) (err error) {
	if e.dev, err = deviceOf(e.opts.Device, local.Dir()); err != nil {
		return fmt.Errorf("find out which device this is: %w", err)
	}
	e.store, e.in = local, local.Inside()
	if e.budget = e.opts.Budget; e.budget == nil {
		e.budget = NewBudget(e.opts.Limits)
	}
	if e.log = e.opts.Logger; e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	if e.opts.Interval <= 0 {
		e.opts.Interval = time.Minute
	}
	e.states = states{in: e.in, place: local.Dir(), device: e.dev.id}
	e.rights.states = &e.states
	e.budget.join(&e.states)
	e.remember(e.opts.Deny)
	e.states.sweep()
	return nil
}

// Close stops the copying, waits for what runs, and closes the store. What was
// not sent stays on the disk and is sent when the directory is opened again. A
// second Close does nothing.
func (s *Store) Close() error {
	if s.worker != nil {
		s.worker.stop()
	}
	if s.engine != nil {
		return errors.Join(wrap("close", "", s.engine.budget.leave(&s.engine.states)), s.Store.Close())
	}
	return s.Store.Close()
}

// Shutdown sends what is not sent yet, for as long as ctx lets it, and closes
// the store in any case. The error tells what could not be sent.
func (s *Store) Shutdown(ctx context.Context) error {
	if s.engine == nil {
		return s.Close()
	}
	if s.worker != nil {
		s.worker.stop()
	}
	err := s.engine.drain(ctx)
	return errors.Join(wrap("shut down", "", err), s.Close())
}
