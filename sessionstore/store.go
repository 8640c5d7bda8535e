package sessionstore

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/seam"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/watch"
)

// Store is one sessions directory. Its methods may be called by many
// goroutines, and many processes may open one directory. The zero Store is one
// that is closed.
type Store struct {
	base     *sessiondir.Base
	watchers watch.Group
	owners   *owners // ownership locks
	cache    *sessionCache
	states   stateCache
	opts     Options
	log      *slog.Logger
	changes  sync.Mutex // held while OnChange runs

	closing sync.Once
	calls   sync.WaitGroup // the admitted ones

	mu     sync.Mutex // guards what follows
	closed bool
}

// Open opens the sessions directory dir (…/projects/<slug>/sessions) and
// creates it if needed, for the owner alone. "" is [DefaultDir] of the working
// directory.
func Open(dir string, opts *Options) (*Store, error) {
	return open(dir, opts, nil)
}

func open(dir string, opts *Options, hooks *seam.Seam) (*Store, error) {
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
	base, err := sessiondir.Open(dir, observing(hooks, o.Observer))
	if err != nil {
		return nil, wrap("open", "", err)
	}
	base.Alone = o.SingleWriter
	st := &Store{base: base, owners: &owners{locks: map[lockKey]*ownerLock{}}, opts: o, cache: newSessionCache(o.CacheBytes)}
	if st.opts.Now == nil {
		st.opts.Now = time.Now
	}
	st.log = st.opts.Logger
	if st.log == nil {
		st.log = slog.New(slog.DiscardHandler)
	}
	return st, nil
}

// given returns st. It panics, with a text that says so, if the caller has none.
func (st *Store) given() *Store {
	if st == nil {
		panic("sessionstore: nil *Store") // unreachable: every caller has a store
	}
	return st
}

// alive returns the error of ctx. It panics, with a text that says so, if the caller
// has none.
func alive(ctx context.Context) error {
	if ctx == nil {
		panic("sessionstore: nil Context") // unreachable: every caller has a context
	}
	return ctx.Err()
}

// Dir returns the absolute path of the sessions directory.
func (st *Store) Dir() string {
	if st.given().base == nil {
		return ""
	}
	return st.base.Path()
}

// Close waits for the calls under way and releases the directory. Later calls
// fail with [ErrClosed]. A second Close does nothing but wait until the first
// is done.
func (st *Store) Close() (err error) {
	st.given().closing.Do(func() { err = wrap("close", "", st.close()) })
	return err
}

func (st *Store) close() error {
	st.mu.Lock()
	st.closed = true // from here on no call is admitted
	st.mu.Unlock()
	if st.base == nil {
		return nil
	}
	err := wrap("close watcher", "", st.watchers.Close())
	st.calls.Wait()
	err = joinErrors(err, st.owners.close())
	st.cache.close()
	_, failed := st.states.empty()
	return joinErrors(err, joinErrors(failed, st.base.Close()))
}
