package watch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

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

const (
	pollStep   = 250 * time.Millisecond // between two rounds of looks, and two looks at the sessions directory
	eventDelay = 30 * time.Millisecond  // from an event to the look: many events are one look, at states that are settled
)

// loop runs a poller: in turns, and earlier after events of the system.
type loop struct {
	poller  *poller
	dirs    *dirWatches
	touched map[string]bool // sessions with events since the last look; true: of the directory itself
}

func newLoop(p *poller) *loop {
	return &loop{poller: p, dirs: p.dirs, touched: map[string]bool{}}
}

// run polls until stop is closed.
func (l *loop) run(stop <-chan struct{}) {
	var events <-chan Event
	if l.dirs.events != nil {
		events = l.dirs.events.Events()
	}
	step, delay := time.NewTicker(pollStep), time.NewTimer(eventDelay)
	defer step.Stop()
	defer delay.Stop()
	for {
		select {
		case <-stop:
			return
		case e, open := <-events:
			if !open {
				events = nil
				continue
			}
			idle := len(l.touched) == 0
			l.onEvent(e)
			if idle && len(l.touched) > 0 {
				delay.Reset(eventDelay)
			}
		case <-delay.C:
			l.pollTouched()
		case <-step.C:
			l.poller.pollTop()
			l.poller.pollDue(time.Now())
		}
	}
}

// onEvent notes the session of the event e.
func (l *loop) onEvent(e Event) {
	top, dir := l.dirs.top, filepath.Dir(e.Path)
	switch {
	case e.Path == "": // also the end of a watch may be lost
		l.poller.emit(Change{Op: Rescan})
		l.poller.top = seen{}
	case e.Path == top: // gone perhaps, and with it its watch
		l.poller.top = seen{}
	case dir == top:
		if id := filepath.Base(e.Path); !strings.HasPrefix(id, ".") {
			l.touched[id] = true
		}
	case filepath.Dir(dir) == top:
		id := filepath.Base(dir)
		if _, touched := l.touched[id]; !touched {
			l.touched[id] = false
		}
	}
}

// pollTouched polls the sessions that events were about. A directory that was
// itself touched may be another one now, which has no watch yet.
func (l *loop) pollTouched() {
	for id, itself := range l.touched {
		if itself {
			l.dirs.unwatch(id)
		}
		l.poller.poll(id, allFiles)
	}
	clear(l.touched)
}

// Change is a change of a session.
type Change struct {
	ID   string
	File string // base name of the changed file; empty: the whole session
	Op   Op
}

// Op is the kind of a [Change].
type Op int

// The kinds of changes. The numbers are the same as in package sessionstore.
const (
	Wrote Op = iota
	Removed
	Rescan // changes may have been missed: read everything again
)

// maxPending is the most changes that wait for a consumer. Beyond it, reading everything
// again is less work than going through them.
const maxPending = 4096

// pending holds the changes that were not taken yet, the latest of each
// file and of each session as a whole. The zero value is empty.
type pending struct {
	order  []changeKey // the first seen first; changes that were dropped or seen again are still in it
	ops    map[changeKey]Op
	rescan bool // all that matters
}

// changeKey is the session and the file of a change.
type changeKey struct{ id, file string }

// add adds c. A removed session's files matter no more, and with a [Rescan]
// nothing else does.
func (s *pending) add(c Change) {
	if s.rescan {
		return
	}
	if c.Op == Rescan {
		*s = pending{rescan: true}
		return
	}
	if c.Op == Removed && c.File == "" {
		for _, name := range Files {
			delete(s.ops, changeKey{c.ID, name})
		}
	}
	key := changeKey{c.ID, c.File}
	if _, waiting := s.ops[key]; !waiting {
		if len(s.order) == maxPending {
			*s = pending{rescan: true}
			return
		}
		s.order = append(s.order, key)
	}
	if s.ops == nil {
		s.ops = map[changeKey]Op{}
	}
	s.ops[key] = c.Op
}

// has reports whether a change of the same file or session as c has not been taken yet.
func (s *pending) has(c Change) bool {
	if c.Op == Rescan {
		return s.rescan
	}
	_, waiting := s.ops[changeKey{c.ID, c.File}]
	return waiting
}

// take removes the change that has waited longest and returns it.
func (s *pending) take() (Change, bool) {
	if s.rescan {
		s.rescan = false
		return Change{Op: Rescan}, true
	}
	for len(s.order) > 0 {
		key := s.order[0]
		s.order = s.order[1:]
		if op, waiting := s.ops[key]; waiting {
			delete(s.ops, key)
			return Change{ID: key.id, File: key.file, Op: op}, true
		}
	}
	*s = pending{}
	return Change{}, false
}

// Files are the files of a session whose changes are reported. A file belongs here only
// if it is written less often than it is read.
var Files = [...]string{
	sessiondir.Transcript,
	sessiondir.Metadata,
	sessiondir.Events,
	sessiondir.Config,
	sessiondir.Phases,
	sessiondir.Conversation,
}

// Event is a hint of a change at Path, a watched directory or a name in one. An empty
// Path means that events were lost.
type Event struct {
	Path string
}
