package watch

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/notify"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Watcher hands out the changes of a sessions directory.
type Watcher struct {
	stop  context.CancelFunc // ends the watch
	ended <-chan struct{}    // closed when the watch is to end: by stop, or with the context of start
	more  chan struct{}      // holds a token when changes were added

	released chan struct{} // closed when nothing runs in the background any more
	err      error         // of the release; set before released is closed

	mu      sync.Mutex // guards pending
	pending pending
}

// prepare returns a watcher that does not watch yet, and what will. The watch
// ends with ctx.
func prepare(ctx context.Context, base *sessiondir.Base, log *slog.Logger, events *notify.Watcher) (*Watcher, *poller) {
	bound, stop := context.WithCancel(ctx)
	w := &Watcher{
		stop: stop, ended: bound.Done(),
		more:     make(chan struct{}, 1),
		released: make(chan struct{}),
	}
	return w, newPoller(base, log, newDirWatches(base.Path(), log, events), w.emit)
}

// run watches with p until the watch is to end, and calls after then. It
// returns at once.
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

// Waits reports whether a change of what c is about was seen and not taken yet.
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

// Close ends the watch and waits for what runs in the background. A second
// call returns the same, and so does a call after the context of the watch
// ended.
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
