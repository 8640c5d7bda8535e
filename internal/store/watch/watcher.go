package watch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// Watcher returns the changes of a sessions directory.
type Watcher struct {
	stop  context.CancelFunc // ends the watch
	ended <-chan struct{}    // closed when the watch must end: by stop, or with the context of Start
	more  chan struct{}      // holds a token when changes were added

	released chan struct{} // closed when nothing runs in the background any more
	err      error         // of the release; set before released is closed

	mu      sync.Mutex // guards pending
	pending pending
}

// prepare returns a watcher that does not watch yet, and its poller. The watch ends with
// ctx.
func prepare(ctx context.Context, base *sessiondir.Base, log *slog.Logger, events *Notifier) (*Watcher, *poller) {
	bound, stop := context.WithCancel(ctx)
	w := &Watcher{
		stop: stop, ended: bound.Done(),
		more:     make(chan struct{}, 1),
		released: make(chan struct{}),
	}
	return w, newPoller(base, log, newDirWatches(base.Path(), log, events), w.emit)
}

// run watches with p until the watch must end, and then calls after. It returns at once.
func (w *Watcher) run(p *poller, after func()) {
	go func() {
		defer close(w.released)
		newLoop(p).run(w.ended)
		after()
		w.err = p.dirs.close()
	}()
}

// Next waits for the next change and takes it. There is none once the watch
// has ended. It is for one goroutine at a time.
func (w *Watcher) Next() (Change, bool) {
	for {
		select {
		case <-w.ended:
			return Change{}, false
		default:
		}
		w.mu.Lock()
		c, ok := w.pending.take()
		w.mu.Unlock()
		if ok {
			return c, true
		}
		select {
		case <-w.more:
		case <-w.ended:
		}
	}
}

// Waits reports whether a change of the same file or session as c was seen and not taken
// yet.
func (w *Watcher) Waits(c Change) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pending.has(c)
}

func (w *Watcher) emit(c Change) {
	w.mu.Lock()
	w.pending.add(c)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// Close ends the watch and waits for the work in the background. A second call returns
// the same, and so does a call after the context of the watch ended.
func (w *Watcher) Close() error {
	w.stop()
	<-w.released
	return w.err
}

// abandon releases a watcher that never ran.
func (w *Watcher) abandon(p *poller, cause error) error {
	w.stop()
	return errors.Join(cause, p.dirs.close())
}

// Group holds the open watchers of a store. The zero value has none.
type Group struct {
	mu     sync.Mutex // guards the fields below
	closed bool
	open   map[*Watcher]struct{}
}

// Start begins to watch the sessions directory base: with events, or by polling alone if
// events is nil. It makes sure that events is closed. It returns once the watch is in
// place, which lasts until ctx ends or one of [Watcher.Close] and [Group.Close] is
// called. The error Is [fs.ErrClosed] when the group is closed.
func (g *Group) Start(ctx context.Context, base *sessiondir.Base, log *slog.Logger, events *Notifier) (*Watcher, error) {
	w, p := prepare(ctx, base, log, events)
	if err := p.begin(ctx); err != nil {
		return nil, w.abandon(p, err)
	}
	w.pending = pending{} // everything was new
	if !g.add(w) {
		return nil, w.abandon(p, limits.Errorf(fs.ErrClosed, "the store is closed"))
	}
	w.run(p, func() { g.remove(w) })
	return w, nil
}

// add adds w, unless the group is closed already.
func (g *Group) add(w *Watcher) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	if g.open == nil {
		g.open = map[*Watcher]struct{}{}
	}
	g.open[w] = struct{}{}
	return true
}

func (g *Group) remove(w *Watcher) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, w)
}

// Len returns the number of open watchers.
func (g *Group) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open)
}

// Close closes all watchers and waits for them. Start fails from then on.
func (g *Group) Close() error {
	g.mu.Lock()
	g.closed = true
	open := make([]*Watcher, 0, len(g.open))
	for w := range g.open {
		open = append(open, w)
	}
	g.mu.Unlock()
	var errs []error
	for _, w := range open {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}
