package watch

import (
	"errors"
	"slices"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// Notifier receives changes in directories from the system. Its methods may be called by
// many goroutines.
type Notifier struct {
	system *fsnotify.Watcher
	events chan Event
	stop   chan struct{}
	relay  sync.WaitGroup
	close  func() error
	mu     sync.Mutex // no watch begins while close ends them all
}

// NewNotifier returns a Notifier of nothing yet.
func NewNotifier() (*Notifier, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	w := &Notifier{system: system, events: make(chan Event), stop: make(chan struct{})}
	w.close = sync.OnceValue(func() error {
		close(w.stop)
		w.mu.Lock()
		defer w.mu.Unlock()
		// The system's watcher goes on with events that it has read after its descriptor
		// is closed, and ends the watches of directories that were moved: at that time
		// these may belong to another Notifier, which got the number of the descriptor.
		for _, dir := range w.system.WatchList() {
			w.Remove(dir)
		}
		err := w.system.Close()
		w.relay.Wait()
		return err
	})
	w.relay.Go(w.run)
	return w, nil
}

// Add watches dir, but not the content of its subdirectories. The watch follows the
// directory that has the path now and ends with it. A directory that is watched by
// another path gets no second watch: its events come with that path.
func (w *Notifier) Add(dir string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.system.Add(dir)
}

// Remove stops watching dir. It is fine if it is not watched, or not there.
func (w *Notifier) Remove(dir string) {
	// The only other failure is that the directory is gone, and its watch.
	_ = w.system.Remove(dir)
}

// Events returns the channel of events. They must be received without much delay; the
// system drops those that wait in too great a number. It is closed by Close.
func (w *Notifier) Events() <-chan Event { return w.events }

// Close ends all watches and waits until nothing arrives any more. A second
// call does nothing but return the same.
func (w *Notifier) Close() error { return w.close() }

// run passes events on. It always receives errors, also while an event waits and
// while Close waits: the system's watcher holds its lock while it sends one, and
// its other calls need that lock.
func (w *Notifier) run() {
	defer close(w.events)
	defer w.drain()
	var next []Event // received and not passed on
	for {
		events, out, e := w.system.Events, chan Event(nil), Event{}
		if len(next) > 0 {
			events, out, e = nil, w.events, next[0]
		}
		select {
		case got, ok := <-events:
			if !ok {
				return
			}
			next = append(next, Event{Path: got.Name})
		case err, ok := <-w.system.Errors:
			if !ok {
				return
			}
			// EINVAL: a directory was moved and removed before its watch could be.
			// Else an overflow, or a failed read: either way events are missing.
			if !errors.Is(err, syscall.EINVAL) && !slices.Contains(next, Event{}) {
				next = append(next, Event{})
			}
		case out <- e:
			next = next[1:]
		case <-w.stop:
			return
		}
	}
}

// drain receives events until the system's watcher has ended.
func (w *Notifier) drain() {
	for events, errs := w.system.Events, w.system.Errors; events != nil || errs != nil; {
		select {
		case _, ok := <-events:
			if !ok {
				events = nil
			}
		case _, ok := <-errs:
			if !ok {
				errs = nil
			}
		}
	}
}
