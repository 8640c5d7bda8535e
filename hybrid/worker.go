package hybrid

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// worker syncs in the background.
type worker struct {
	*engine
	cancel context.CancelFunc
	work   sync.WaitGroup
	since  int64 // time of the server up to which the catalogue is known; for run alone

	mu    sync.Mutex // guards what follows
	due   map[string]time.Time
	tries map[string]int
	seen  map[string]glance
}

const (
	// lull is how long the worker waits after a write for the next: the
	// writes of one turn are one push.
	lull = 200 * time.Millisecond
	// visitors is how many sessions are synced at once.
	visitors = 4
)

func startWorker(ctx context.Context, e *engine) (*worker, error) {
	w := &worker{engine: e, due: map[string]time.Time{}, tries: map[string]int{}, seen: map[string]glance{}}
	var watcher *sessionstore.Watcher
	if e.opts.Foreign {
		var err error
		if watcher, err = e.store.Watch(ctx); err != nil {
			return nil, err
		}
	}
	run, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	if watcher != nil {
		w.work.Go(func() { w.watch(watcher) })
		w.work.Go(func() {
			<-run.Done()
			if err := watcher.Close(); err != nil {
				e.log.Warn("watcher not closed", "err", err)
			}
		})
	}
	w.work.Go(func() { w.run(run) })
	return w, nil
}

// stop ends the worker and waits for it.
func (w *worker) stop() {
	w.cancel()
	w.work.Wait()
}

// watch marks what other programs change.
func (w *worker) watch(watcher *sessionstore.Watcher) {
	for c := range watcher.Changes() {
		if c.Op == sessionstore.Rescan {
			w.scan(context.Background())
			continue
		}
		w.marks.mark(c.ID, written)
	}
}

// run visits what is marked, what is due, and every interval whatever changed
// here or there.
func (w *worker) run(ctx context.Context) {
	w.scan(ctx)
	next := time.Now().Add(w.opts.Interval)
	for ctx.Err() == nil {
		w.sweep(ctx)
		if now := time.Now(); !now.Before(next) {
			w.scan(ctx)
			w.listen(ctx)
			next = time.Now().Add(w.opts.Interval)
			continue
		}
		if pause(ctx, max(1, time.Until(w.wake(next))), w.marks.more) != nil {
			return
		}
		if !w.marks.empty() && pause(ctx, lull, nil) != nil {
			return
		}
	}
}

// wake returns when there is something to do next.
func (w *worker) wake(next time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.due {
		if at.Before(next) {
			next = at
		}
	}
	return next
}

// sweep visits what is marked or due.
func (w *worker) sweep(ctx context.Context) {
	todo := w.marks.take()
	now := time.Now()
	w.mu.Lock()
	for id, at := range w.due {
		if !at.After(now) {
			todo[id] = max(todo[id], hinted)
			delete(w.due, id)
		} else if w.tries[id] > 0 {
			delete(todo, id) // it failed a short time ago
		}
	}
	w.mu.Unlock()
	ids := make([]string, 0, len(todo))
	for id := range todo {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	w.parallel(ids, func(id string) {
		if ctx.Err() != nil {
			w.marks.mark(id, todo[id])
			return
		}
		w.attend(ctx, id, want{hinted: todo[id] == hinted})
	})
}

// attend visits a session and plans the next visit.
func (w *worker) attend(ctx context.Context, id string, what want) {
	out, _ := w.visit(ctx, id, what)
	if ctx.Err() != nil {
		w.marks.mark(id, hinted)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.due, id)
	switch {
	case out.err != nil && !errors.Is(out.err, ErrDeleted):
		w.tries[id]++
		w.due[id] = time.Now().Add(w.chance.backoff(w.tries[id]))
		if open := w.budget.opens(); open.After(w.due[id]) {
			w.due[id] = open
		}
		w.log.Info("session not synced", "session", id, "attempt", w.tries[id], "err", out.err)
		return
	case !out.later.IsZero():
		w.due[id] = out.later
	case out.state == Behind || out.state == Diverged:
		w.due[id] = time.Now().Add(w.opts.Interval)
	}
	delete(w.tries, id)
}

// parallel calls do for each id, several at once, and waits for all.
func (e *engine) parallel(ids []string, do func(id string)) {
	var work sync.WaitGroup
	next := make(chan string)
	for range min(e.atOnce(visitors), len(ids)) {
		work.Go(func() {
			for id := range next {
				do(id)
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	work.Wait()
}

// listen asks the catalogue what other devices changed since it was last
// asked.
func (w *worker) listen(ctx context.Context) {
	for entry, err := range w.link().news(ctx, w.uid(), w.opts.Project, &w.since) {
		if err != nil {
			w.log.Info("catalogue not read", "err", err)
			return
		}
		if w.in.Has(entry.Session) && w.knownRevision(entry.SID, entry.Session) < entry.Revision {
			w.marks.mark(entry.Session, hinted)
		}
	}
}
