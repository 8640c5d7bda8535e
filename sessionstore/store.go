package sessionstore

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Options are the settings of a store. The zero value, and nil, are the
// reference's behaviour, made durable.
type Options struct {
	Logger     *slog.Logger     // nil: silent
	Durability Durability       // zero: Durable
	Now        func() time.Time // nil: time.Now
	Workspace  string           // directory of the project, for the ownership lock and new sessions; "": each session's working_dir, and the working directory of the process
	Portable   bool             // write U+2028, U+2029 and U+0085 as escapes (the default is the reference's bytes)
	OnChange   func(Change)     // called after each acknowledged write, in order, must not block
	Observer   Observer         // nil: nobody is told what the store does
}

// Durability is what a call that writes has made sure of when it returns nil.
type Durability int

const (
	Durable    Durability = iota // data and names synced before it is acknowledged: every reader sees it after a power cut
	DataSynced                   // data synced before its name changes: after a power cut the state before may stand, never a torn one
	Relaxed                      // survives a killed process, not a power cut (what the Python store gives)
)

// Change is one acknowledged write.
type Change struct {
	ID   string
	File string // base name of the changed file; empty: the whole session
	Op   Op
}

// Op is what a [Change] did.
type Op int

const (
	Wrote Op = iota
	Removed
	Rescan // changes may have been missed: read everything again
)

// Store is one sessions directory. Its methods may be called by many
// goroutines, and many processes may open one directory.
type Store struct {
	base     *sessiondir.Base
	watchers watchers
	listed   listed
	opts     Options
	log      *slog.Logger

	mu       sync.Mutex // guards what follows
	closed   bool
	calls    sync.WaitGroup
	sessions map[string]*session
	kept     recent     // transcripts that sessions know
	seats    recent     // sessions that keep files open
	changes  sync.Mutex // held while OnChange runs
}

// Open opens the sessions directory dir (…/projects/<slug>/sessions) and
// creates it if needed, for the owner alone. "" is [DefaultDir] of the working
// directory.
func Open(dir string, opts *Options) (*Store, error) {
	return open(dir, opts, nil)
}

func open(dir string, opts *Options, seam *fault.Seam) (*Store, error) {
	if dir == "" {
		cwd, err := os.Getwd()
		if err != nil {
			return nil, wrap("open", "", err)
		}
		if dir, err = DefaultDir(cwd); err != nil {
			return nil, err
		}
	}
	o := Options{}
	if opts != nil {
		o = *opts
	}
	base, err := sessiondir.Open(dir, observing(seam, o.Observer))
	if err != nil {
		return nil, wrap("open", "", err)
	}
	st := &Store{base: base, opts: o, sessions: map[string]*session{}}
	if st.opts.Now == nil {
		st.opts.Now = time.Now
	}
	st.log = st.opts.Logger
	if st.log == nil {
		st.log = slog.New(slog.DiscardHandler)
	}
	return st, nil
}

// Dir returns the absolute path of the sessions directory.
func (st *Store) Dir() string { return st.base.Path() }

// Close waits for the calls under way and releases the directory. Later calls
// fail with [ErrClosed]; a second Close does nothing.
func (st *Store) Close() error {
	st.mu.Lock()
	st.closed = true
	st.mu.Unlock()
	err := st.watchers.close()
	st.calls.Wait()
	for _, s := range st.sessions { // no call is left that could change it
		err = also(err, also(s.disown(), s.seat.Close()))
	}
	return wrap("close", "", also(err, st.base.Close()))
}

// begin admits a call; done must be called at its end.
func (st *Store) begin(ctx context.Context) (done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return nil, ErrClosed
	}
	st.calls.Add(1)
	return st.calls.Done, nil
}

// openDir opens the directory of an existing session for reading.
func (st *Store) openDir(id string) (*sessiondir.Dir, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	dir, err := st.base.Dir(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(id)
	}
	return dir, err
}

// changed tells OnChange what was written.
func (st *Store) changed(id string, op Op, files ...string) {
	if st.opts.OnChange == nil {
		return
	}
	st.changes.Lock()
	defer st.changes.Unlock()
	for _, name := range files {
		st.opts.OnChange(Change{ID: id, File: name, Op: op})
	}
}
