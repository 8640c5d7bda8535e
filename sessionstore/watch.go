package sessionstore

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/notify"
)

// Watcher tells what changes in a sessions directory, whoever changes it. See
// [Store.Watch].
type Watcher struct {
	stop  chan struct{} // closed by Close
	more  chan struct{} // holds a token when changes were added
	loop  sync.WaitGroup
	close func() error

	mu      sync.Mutex // guards pending
	pending changeSet
}

// Watch begins to watch the sessions directory. It returns once the watch is
// in place, so that "watch, then list" misses nothing. ctx bounds only this
// call; the watch ends with [Watcher.Close] or [Store.Close].
//
// Told are changes of transcript.jsonl, metadata.json, events.jsonl,
// config.md, phase_outputs.jsonl and session_conversation.jsonl, made by this
// store or by any program, in place or by a new file; and sessions that
// appear or vanish, with an empty File. The end of an append that was in doubt
// changes the transcript too. Backups, temporary and lock files are not told,
// nor is anything of sessions whose name begins with a dot, as in
// [Store.List].
//
// A change is seen within two seconds if the file system answers at once, in
// a directory of 10,000 sessions too; on Linux the sessions that changed last
// are seen within a tenth of one. Other systems are polled: macOS because it
// needs a descriptor for every watched file, Windows because a watched
// directory is held open, and that must never be what makes a rename fail.
// Polling opens no session's directory and no file.
//
// A change may be told twice, but none is left out: where that cannot be
// said, there is a [Rescan] of everything, with an empty ID.
func (st *Store) Watch(ctx context.Context) (*Watcher, error) {
	events, err := notify.New()
	if err != nil {
		if !errors.Is(err, errors.ErrUnsupported) {
			st.log.Warn("watching by polling alone", "err", err)
		}
		events = nil
	}
	w, err := st.watch(ctx, events)
	return w, wrap("watch", "", err)
}

// watch is Watch with events, or by polling alone where that is nil. It sees
// to it that events is closed.
func (st *Store) watch(ctx context.Context, events *notify.Watcher) (*Watcher, error) {
	w := &Watcher{stop: make(chan struct{}), more: make(chan struct{}, 1)}
	o := newObserver(st.base, st.log, events, w.tell)
	if err := st.startWatch(ctx, w, o); err != nil {
		return nil, also(err, o.close())
	}
	return w, nil
}

func (st *Store) startWatch(ctx context.Context, w *Watcher, o *observer) error {
	done, err := st.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := o.begin(ctx); err != nil {
		return err
	}
	w.pending = changeSet{} // everything was new
	w.close = sync.OnceValue(func() error {
		close(w.stop)
		w.loop.Wait()
		st.watchers.remove(w)
		return wrap("close watcher", "", o.close())
	})
	if !st.watchers.add(w) {
		return ErrClosed
	}
	w.loop.Go(func() { o.run(w.stop) })
	return nil
}

// Changes returns the changes as they are seen, and waits for them. Changes
// of one file that nobody has taken yet are one. It ends when the watcher is
// closed; after a break the next call goes on. It is for one consumer at a
// time.
func (w *Watcher) Changes() iter.Seq[Change] {
	return func(yield func(Change) bool) {
		for {
			c, ok := w.next()
			if !ok || !yield(c) {
				return
			}
		}
	}
}

// next waits for the next change; there is none once the watcher is closed.
func (w *Watcher) next() (Change, bool) {
	for {
		select {
		case <-w.stop:
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
		case <-w.stop:
		}
	}
}

func (w *Watcher) tell(c Change) {
	w.mu.Lock()
	w.pending.add(c)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// Close ends the watch and [Watcher.Changes], and waits for what runs in the
// background. A second call returns the same.
func (w *Watcher) Close() error { return w.close() }

// watchers are the open watchers of a store. The zero value has none.
type watchers struct {
	mu     sync.Mutex // guards what follows
	closed bool
	open   map[*Watcher]struct{}
}

// add adds w, unless the watchers are closed already.
func (ws *watchers) add(w *Watcher) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.closed {
		return false
	}
	if ws.open == nil {
		ws.open = map[*Watcher]struct{}{}
	}
	ws.open[w] = struct{}{}
	return true
}

func (ws *watchers) remove(w *Watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.open, w)
}

// close closes all watchers and waits for them. There will be no more.
func (ws *watchers) close() error {
	ws.mu.Lock()
	ws.closed = true
	open := make([]*Watcher, 0, len(ws.open))
	for w := range ws.open {
		open = append(open, w)
	}
	ws.mu.Unlock()
	var all error
	for _, w := range open {
		all = also(all, w.Close())
	}
	return all
}
