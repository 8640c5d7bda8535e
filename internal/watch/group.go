package watch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/notify"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/show"
)

// Group holds the open watchers of a store. The zero value has none.
type Group struct {
	mu     sync.Mutex // guards what follows
	closed bool
	open   map[*Watcher]struct{}
}

// Start begins to watch the sessions directory base: with events, or by
// polling alone where that is nil. It sees to it that events is closed. It
// returns once the watch is in place, which lasts until ctx ends or one of
// [Watcher.Close] and [Group.Close] is called. The error Is [fs.ErrClosed] when
// the group is closed.
func (g *Group) Start(ctx context.Context, base *sessiondir.Base, log *slog.Logger, events *notify.Watcher) (*Watcher, error) {
	w, p := prepare(ctx, base, log, events)
	if err := p.begin(ctx); err != nil {
		return nil, w.abandon(p, err)
	}
	w.pending = pending{} // everything was new
	if !g.add(w) {
		return nil, w.abandon(p, show.Errorf(fs.ErrClosed, "the store is closed"))
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

// Len returns how many watchers are open.
func (g *Group) Len() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open)
}

// Close closes all watchers and waits for them. There will be no more.
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
