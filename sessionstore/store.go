package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/watch"
)

// Store is one sessions directory. Its methods may be called by many goroutines, and many
// processes may open one directory. The zero Store is closed.
type Store struct {
	base     *sessiondir.Base
	watchers watch.Group
	cache    *sessionCache
	opts     Options
	log      *slog.Logger
	globs    []string   // that package hybrid was given: sessions that never leave this machine
	changes  sync.Mutex // held while OnChange runs

	closing sync.Once
	calls   sync.WaitGroup // the admitted ones

	mu     sync.Mutex // guards the fields below
	closed bool
}

// Open opens the sessions directory dir (…/projects/<slug>/sessions) and
// creates it if needed, for the owner alone. "" is [DefaultDir] of the working
// directory, and a leading ~ the home directory.
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
	st := &Store{base: base, opts: o, cache: newSessionCache(o.CacheBytes)}
	if st.opts.Now == nil {
		st.opts.Now = time.Now
	}
	st.log = st.opts.Logger
	if st.log == nil {
		st.log = slog.New(slog.DiscardHandler)
	}
	return st, nil
}

// given returns st. It panics with a clear text if st is nil.
func (st *Store) given() *Store {
	if st == nil {
		panic("sessionstore: nil *Store") // unreachable: every caller has a store
	}
	return st
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
	err = joinErrors(err, st.cache.close())
	return joinErrors(err, st.base.Close())
}

// admit admits a call: Close waits until the call ends it with st.calls.Done. A call
// leaves nothing in the store before it is admitted.
func (st *Store) admit(ctx context.Context) error {
	if ctx == nil {
		panic("sessionstore: nil Context") // unreachable: every caller has a context
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	st.given().mu.Lock()
	defer st.mu.Unlock()
	if st.closed || st.base == nil {
		return errClosed
	}
	st.calls.Add(1)
	return nil
}

// openDir opens the directory of an existing session for reading.
func (st *Store) openDir(id string) (*sessiondir.Dir, error) {
	if st.cache.known(id) == nil { // the id of an entry was checked before
		if err := checkID(id); err != nil {
			return nil, err
		}
	}
	dir, err := st.base.Dir(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(id)
	}
	return dir, err
}

// lockError returns the error of a session's lock as an error of this package.
func lockError(ctx context.Context, err error) error {
	if errors.Is(err, lock.ErrBusy) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrLocked, err)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = needsSingleWriter(err)
	}
	return err
}

// needsSingleWriter adds the advice how to write where the file system has no locks.
func needsSingleWriter(err error) error {
	return fmt.Errorf("%w; where no other process writes these sessions, sessionstore.Options.SingleWriter goes on without locks of the system", err)
}

// clock returns the time, if there is an observer that needs it.
func (st *Store) clock() time.Time {
	if st.given().opts.Observer == nil {
		return time.Time{}
	}
	return time.Now()
}

// called reports a call to the observer and returns its error.
func (st *Store) called(ctx context.Context, op, id string, start time.Time, err error) error {
	if st.opts.Observer != nil {
		st.opts.Observer.Called(ctx, Call{Op: op, Session: id, Start: start, Err: err})
	}
	return err
}

// changed reports written files to OnChange.
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

// checkID refuses an id that cannot be the name of a session's directory, with the
// reference's texts where the reference refuses the id too.
func checkID(id string) error {
	if blank(id) {
		return limits.Reference(ErrInvalidID, "session_id cannot be empty")
	}
	if strings.ContainsAny(id, `/\`) || id == "." || id == ".." {
		return limits.Reference(ErrInvalidID, "Invalid session_id: "+shown(id))
	}
	if reason := unfit(id, runtime.GOOS); reason != "" {
		return fmt.Errorf("%w: %s", ErrInvalidID, reason)
	}
	return nil
}

// blank reports whether id is all space.
func blank(id string) bool {
	plain := id != "" && ' ' < id[0] && id[0] < utf8.RuneSelf // as nearly always
	return !plain && strings.TrimFunc(id, isSpace) == ""
}

// unfit returns the reason why the file system of goos, or this library, cannot hold id.
func unfit(id, goos string) string {
	switch {
	case strings.ContainsRune(id, 0):
		return "embedded null byte"
	case len(id) > maxIDBytes:
		return "longer than 255 bytes"
	case !utf8.ValidString(id):
		return "not UTF-8"
	case sessiondir.Reserved(id):
		return "the name is reserved"
	case goos != "windows":
		return ""
	case strings.ContainsAny(id, `<>:"|?*`) || strings.ContainsFunc(id, unicode.IsControl):
		return "holds a character that Windows does not allow"
	case strings.HasSuffix(id, ".") || strings.HasSuffix(id, " "):
		return "ends in a dot or a space, which Windows drops"
	case sessiondir.Device(id):
		return "names a Windows device"
	}
	return ""
}

// isSpace reports whether Python's str.strip removes r.
func isSpace(r rune) bool {
	return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f
}
