package hybrid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/jitter"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/replica"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/syncer"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// worker syncs in the background. A session is marked when it was written, or when the
// catalogue shows that the remote has more. A mark waits a lull for the writes that
// follow, then it waits in the queue until fewer than maxSyncs sessions are synced. A
// sync that failed, or must be made later, is due at a time. So a slow session delays no
// other.
type worker struct {
	*engine
	cancel context.CancelFunc
	work   sync.WaitGroup
	rest   sync.Once // of sendRest

	mu       sync.Mutex // guards the fields below
	polled   bool       // there was a poll before
	polling  bool       // a poll is under way
	nextPoll time.Time  // when it is due otherwise
	queue    queue
	due      map[string]time.Time
	tries    map[string]int
}

const (
	// lull is how long the worker waits after a write for the next: the writes of one
	// turn are one push.
	lull = 200 * time.Millisecond
	// maxSyncs is how many sessions are synced at once.
	maxSyncs = 4
	// fullPause is the time until the next try for a session that is full in the remote:
	// another device may have made room.
	fullPause = 24 * time.Hour
)

func startWorker(ctx context.Context, e *engine) (*worker, error) {
	w := &worker{engine: e, due: map[string]time.Time{}, tries: map[string]int{}}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w.cancel = cancel
	if e.opts.Background.Watch {
		unbind := context.AfterFunc(ctx, cancel) // ctx bounds only the start of the watch
		watcher, err := e.Store.Watch(run)
		if !unbind() {
			err = errors.Join(err, ctx.Err())
		}
		if err != nil {
			cancel()
			return nil, err
		}
		w.work.Go(func() { w.watch(watcher) })
	}
	w.work.Go(func() { w.run(run) })
	return w, nil
}

// stop ends the worker and waits for it. A sync under way is cancelled.
func (w *worker) stop() {
	w.cancel()
	w.work.Wait()
}

// watch marks the sessions that other programs change, until the watch ends.
func (w *worker) watch(watcher *sessionstore.Watcher) {
	defer func() {
		if err := watcher.Close(); err != nil {
			w.Log.Warn("watcher not closed", "err", err)
		}
	}()
	for c := range watcher.Changes() {
		if c.Op == sessionstore.Rescan {
			w.scan(context.Background())
			continue
		}
		w.Dirty.Add(c.ID, replica.Written)
	}
}

// run starts the syncs of sessions that are marked or due, and each interval a poll for
// changes.
func (w *worker) run(ctx context.Context) {
	var jobs sync.WaitGroup
	defer jobs.Wait()
	start := func(do func()) {
		if w.Alone {
			do()
			return
		}
		jobs.Go(do)
	}
	w.nextPoll = time.Now()
	for {
		marked, err := w.marked(ctx)
		if err != nil {
			return
		}
		w.collect(marked)
		if w.pollIsDue() {
			start(func() { w.poll(ctx) })
		}
		for id, what := range w.ready(ctx) {
			start(func() { w.sync(ctx, id, what) })
		}
		if jitter.Pause(ctx, w.untilDue(), w.Dirty.More) != nil {
			return
		}
	}
}

// marked returns the sessions that are marked, and removes their marks. It waits a lull
// first: no mark is taken while the writes that follow it may be under way.
func (w *worker) marked(ctx context.Context) (map[string]replica.Reason, error) {
	if w.Dirty.Size() == 0 {
		return nil, nil
	}
	if err := jitter.Pause(ctx, lull, nil); err != nil {
		return nil, err
	}
	return w.Dirty.Take(), nil
}

// pollIsDue reports whether a poll has to start now, and marks it as started.
func (w *worker) pollIsDue() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	due := !w.polling && !time.Now().Before(w.nextPoll)
	w.polling = w.polling || due
	return due
}

// poll marks the sessions that changed here and in the remote; the first time also those
// that an earlier process knew of and did not fetch.
func (w *worker) poll(ctx context.Context) {
	w.scan(ctx)
	_, err := w.readCatalogue(ctx)
	if err != nil && ctx.Err() == nil {
		w.Log.Info("catalogue not read", "err", err)
	}
	w.mu.Lock()
	first := !w.polled
	failing := slices.ContainsFunc(slices.Collect(maps.Keys(w.tries)), func(id string) bool {
		last, _ := w.lastOf(id)
		return !errors.Is(last.Err, ErrHeld)
	})
	w.mu.Unlock()
	if !failing && err == nil {
		w.succeeded()
	}
	if first {
		w.hint(slices.Collect(w.Table.Entries()))
	}
	w.save(ctx) // the state that syncs recorded since the last poll
	w.mu.Lock()
	w.polling, w.polled, w.nextPoll = false, true, time.Now().Add(w.opts.Background.Interval)
	w.mu.Unlock()
	w.Dirty.Wake()
}

// sync syncs a session of the queue.
func (w *worker) sync(ctx context.Context, id string, what syncer.Options) {
	w.syncAndSchedule(ctx, id, what)
	w.mu.Lock()
	w.queue.end(id)
	w.mu.Unlock()
	w.Dirty.Wake()
}

// ready yields the sessions to sync now, up to the limit. It yields none while the
// remote is away, nor before the first poll has found out whether it is.
func (w *worker) ready(ctx context.Context) iter.Seq2[string, syncer.Options] {
	return func(yield func(string, syncer.Options) bool) {
		for ctx.Err() == nil && w.budget.Away() == nil {
			w.mu.Lock()
			id, why, ok := "", replica.Written, false
			if len(w.queue.running) < w.AtOnce(maxSyncs) && (w.polled || w.budget.Answers()) {
				id, why, ok = w.queue.next()
			}
			w.mu.Unlock()
			if !ok || !yield(id, syncer.Options{Look: why == replica.Hinted}) {
				return
			}
		}
	}
}

// collect moves the sessions that are marked or due into the queue.
func (w *worker) collect(marked map[string]replica.Reason) {
	w.judge(marked)
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(marked)) {
		last, known := w.lastOf(id)
		if _, due := w.due[id]; due && w.tries[id] > 0 && (!known || last.Err != nil) {
			continue // it failed a short time ago, and no call has synced it since
		}
		w.queue.add(id, marked[id])
	}
	for _, id := range slices.Sorted(maps.Keys(w.due)) {
		if !w.due[id].After(now) {
			w.queue.add(id, replica.Hinted)
			delete(w.due, id)
		}
	}
}

// untilDue returns the time until the next session or poll is due.
func (w *worker) untilDue() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.nextPoll
	if w.polling {
		next = time.Now().Add(w.opts.Background.Interval)
	}
	for _, at := range w.due {
		if at.Before(next) {
			next = at
		}
	}
	if len(w.queue.waiting) > 0 && w.budget.Away() != nil {
		next = w.budget.Opens()
	}
	return max(1, time.Until(next))
}

// sendRest sends the sessions that the worker has not sent, once. The worker has stopped.
func (w *worker) sendRest(ctx context.Context) (err error) {
	w.rest.Do(func() { err = w.drain(ctx, w.unsent(ctx)) })
	return err
}

// unsent returns the sessions that may have lines which are not in the remote, without
// sessions that only wait for lines from the remote. The worker has stopped.
func (w *worker) unsent(ctx context.Context) []string {
	w.collect(w.Dirty.Take())
	for id := range w.due {
		w.queue.add(id, replica.Hinted)
	}
	rest := w.queue.rest()
	if !slices.Contains(slices.Collect(maps.Values(rest)), replica.Hinted) {
		return slices.Sorted(maps.Keys(rest))
	}
	if here, err := w.scanAll(ctx); err == nil {
		maps.DeleteFunc(rest, func(id string, why replica.Reason) bool {
			return why == replica.Hinted && !here.changed[id]
		})
	}
	return slices.Sorted(maps.Keys(rest))
}

// syncAndSchedule syncs a session and notes when to sync it again.
func (w *worker) syncAndSchedule(ctx context.Context, id string, what syncer.Options) {
	out, _ := w.syncOne(ctx, id, what)
	if ctx.Err() != nil {
		w.Dirty.Add(id, replica.Hinted)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.due, id)
	if out.Err == nil && out.Asking {
		w.succeeded()
	}
	switch {
	case errors.Is(out.Err, ErrUnreachable) && w.budget.Away() != nil:
		w.queue.add(id, replica.Hinted) // and it waits there, like all others
		w.Log.Info("session not synced", "session", id, "err", out.Err)
		return
	case out.Err != nil && !errors.Is(out.Err, ErrRemoved):
		w.queue.drop(id)
		w.tries[id]++
		w.due[id] = time.Now().Add(w.Random.Backoff(w.tries[id]))
		if errors.Is(out.Err, ErrFull) {
			w.due[id] = time.Now().Add(fullPause)
		}
		if open := w.budget.Opens(); open.After(w.due[id]) {
			w.due[id] = open
		}
		w.triesAt(id, w.due[id])
		w.Log.Info("session not synced", "session", id, "attempt", w.tries[id], "err", out.Err)
		return
	case !out.Later.IsZero():
		w.due[id] = out.Later
	case out.State == syncer.Behind || out.Did == syncer.Diverged:
		w.due[id] = time.Now().Add(w.opts.Background.Interval)
	}
	delete(w.tries, id)
}

// retryFull syncs a session that was full at its last sync.
func (w *worker) retryFull(id string) {
	if w == nil {
		return
	}
	if last, ok := w.lastOf(id); !ok || !errors.Is(last.Err, ErrFull) {
		return
	}
	w.mu.Lock()
	delete(w.due, id)
	delete(w.tries, id)
	w.mu.Unlock()
	w.Dirty.Add(id, replica.Hinted)
}

// parallel calls do for each id, several at once, and waits for all.
func (e *engine) parallel(ids []string, do func(id string)) {
	atOnce(e.AtOnce(maxSyncs), ids, do)
}

// atOnce calls do for each of all, n at once, and waits for all.
func atOnce[T any](n int, all []T, do func(T)) {
	var work sync.WaitGroup
	room := make(chan struct{}, n)
	for _, one := range all {
		room <- struct{}{}
		work.Go(func() {
			defer func() { <-room }()
			do(one)
		})
	}
	work.Wait()
}

// queue holds the sessions that the worker has to sync, each once. Sessions written here
// go before those that may have changed in the remote alone. A session that is added while
// it is synced waits until that sync has ended. The zero queue is empty.
type queue struct {
	written, hinted []string                  // in the order of their arrival; some wait no more
	waiting         map[string]replica.Reason // why each waiting session is synced
	running         map[string]bool           // sessions that are synced now
}

// add adds a session. A session that waits already is synced for both reasons.
func (q *queue) add(id string, why replica.Reason) {
	if q.waiting == nil {
		q.waiting, q.running = map[string]replica.Reason{}, map[string]bool{}
	}
	had, waits := q.waiting[id]
	if waits {
		q.waiting[id] = max(had, why)
		if why == replica.Written && had == replica.Hinted {
			q.written = append(q.written, id) // it goes first now
		}
		return
	}
	q.waiting[id] = why
	q.line(id, why)
}

// line puts a waiting session at the end of its line, unless it is running.
func (q *queue) line(id string, why replica.Reason) {
	switch {
	case q.running[id]:
	case why == replica.Written:
		q.written = append(q.written, id)
	default:
		q.hinted = append(q.hinted, id)
	}
}

// next returns the session to sync next, which counts as running until end is
// called. ok is false when none waits.
func (q *queue) next() (id string, why replica.Reason, ok bool) {
	for _, line := range []*[]string{&q.written, &q.hinted} {
		for len(*line) > 0 {
			id, *line = (*line)[0], (*line)[1:]
			if why, ok = q.waiting[id]; ok && !q.running[id] {
				delete(q.waiting, id)
				q.running[id] = true
				return id, why, true
			}
		}
	}
	return "", 0, false
}

// drop removes a session from the waiting ones.
func (q *queue) drop(id string) { delete(q.waiting, id) }

// end notes that the sync of a session has ended.
func (q *queue) end(id string) {
	delete(q.running, id)
	if why, waits := q.waiting[id]; waits {
		q.line(id, why)
	}
}

// rest returns the sessions that wait.
func (q *queue) rest() map[string]replica.Reason { return q.waiting }

// listing is the result of a scan of the directory.
type listing struct {
	sessions []sessiondir.Entry // all sessions here, the most recently changed first
	changed  map[string]bool    // by id, the sessions to sync
}

// scanAll finds the sessions that are not known to be in step with the remote. It
// opens no file.
func (e *engine) scanAll(ctx context.Context) (*listing, error) {
	return e.list(ctx, e.Stats.NotInStep)
}

// scanChanged finds the sessions that changed since this store synced them last. It
// opens no file.
func (e *engine) scanChanged(ctx context.Context) (*listing, error) {
	return e.list(ctx, e.Stats.Changed)
}

func (e *engine) list(ctx context.Context, changed func([]sessiondir.Entry) map[string]bool) (*listing, error) {
	all, err := e.Core.Entries(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b sessiondir.Entry) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Name, b.Name))
	})
	return &listing{sessions: all, changed: changed(all)}, ctx.Err()
}

// scan marks the sessions whose files changed since this store synced them last, and
// those that are gone.
func (w *worker) scan(ctx context.Context) {
	f, err := w.scanChanged(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.Log.Warn("sessions not listed", "err", err)
		}
		return
	}
	for _, at := range f.sessions {
		if f.changed[at.Name] {
			w.Dirty.Add(at.Name, replica.Written)
		}
	}
	for _, id := range w.Stats.Gone(f.sessions) {
		w.Dirty.Add(id, replica.Written)
	}
}

// drain sends everything of the sessions that is not sent, with their entries of the
// catalogue. The error counts the sessions that could not be sent, with the first reason,
// but for those that are held back.
func (e *engine) drain(ctx context.Context, ids []string) error {
	errs := newErrors()
	e.parallel(ids, func(id string) {
		err := ctx.Err()
		if err == nil {
			out, _ := e.syncOne(ctx, id, syncer.Options{Mode: syncer.Closing})
			err = out.Err
		}
		if err != nil && !errors.Is(err, ErrRemoved) && !errors.Is(err, ErrHeld) {
			errs.add(wrap("sync", id, err))
		}
	})
	if n := len(errs.list); n > 0 {
		return fmt.Errorf("%w: %d sessions wait on this device and are sent when the directory is opened again: %w", ErrDeferred, n, errs.list[0])
	}
	return nil
}
