package eventslog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

const (
	fileName   = "events.jsonl"
	captureDir = "context-intelligence" // in a session's directory, holds the log of the newer tools
)

// Options are the settings of a Log. The zero Options are fine.
type Options struct {
	SessionID string           // of events that carry none; "": the name of the session's directory
	Sync      bool             // events are on the disk when Append returns
	Now       func() time.Time // the clock; nil: time.Now
}

// Log is the audit log of one session.
type Log struct {
	dir       string
	sessionID string
	newer     bool  // the log of the newer tools
	longest   int64 // see lines
	sync      bool
	now       func() time.Time
	seam      *seam.Seam
	done      chan struct{} // closed by Close
	writing   chan struct{} // holds one token while a batch is written

	out *appendFile // owned by the holder of the turn

	mu     sync.Mutex // guards the fields below
	batch  *batch     // the lines of the next write; nil: none
	closed bool
}

// Open opens events.jsonl in the directory sessionDir, the log of the session's
// events that [Log.Append] writes, whatever the name of the directory is. Neither
// needs to exist: a missing log is empty, and Append makes both. opts may be nil.
func Open(sessionDir string, opts *Options) (*Log, error) {
	return open(sessionDir, opts, nil)
}

// OpenCapture opens context-intelligence/events.jsonl in the directory sessionDir, the
// log of the session's events that the newer tools write. It is read by their rules,
// and Append to it is refused. It need not exist, and opts may be nil.
func OpenCapture(sessionDir string, opts *Options) (*Log, error) {
	l, err := open(filepath.Join(sessionDir, captureDir), opts, nil)
	if err != nil {
		return nil, err
	}
	l.newer = true
	if opts == nil || opts.SessionID == "" {
		l.sessionID = filepath.Base(filepath.Dir(l.dir))
	}
	return l, nil
}

func open(dir string, opts *Options, hooks *seam.Seam) (*Log, error) {
	dir, err := sessiondir.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	if fi, err := os.Stat(dir); err == nil && !fi.IsDir() {
		return nil, fmt.Errorf("open log: %w", &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR})
	}
	l := &Log{
		dir: dir, sessionID: filepath.Base(dir), longest: longest, now: time.Now, seam: hooks,
		done: make(chan struct{}), writing: make(chan struct{}, 1),
	}
	if opts == nil {
		return l, nil
	}
	l.sync = opts.Sync
	if opts.SessionID != "" {
		l.sessionID = opts.SessionID
	}
	if opts.Now != nil {
		l.now = opts.Now
	}
	return l, nil
}

// path returns the path of the log.
func (l *Log) path() string { return filepath.Join(l.dir, fileName) }

var errClosed = limits.Errorf(fs.ErrClosed, "the log is closed")

// open opens the log for reading. A missing one is fs.ErrNotExist.
func (l *Log) open() (*os.File, error) {
	select {
	case <-l.done:
		return nil, errClosed
	default:
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, err
	}
	dir := vfs.New(root, l.seam)
	f, err := dir.OpenRead(fileName)
	return f, errors.Join(err, dir.Close())
}

// batch is the lines that one write takes, of one call or of several.
type batch struct {
	lines []byte
	done  chan struct{} // closed when they are written
	err   error         // valid after that
}

// appendFile is the open log.
type appendFile struct {
	dir        *vfs.Dir
	file       *vfs.Append
	nameSynced bool // its name and its directory's are durable, as far as a sync of both makes them
	syncFailed bool // a sync failed: the last lines may be lost, with their end, even if the next sync succeeds
}

// end returns the size of the file, and whether its last line lacks an LF.
func (a *appendFile) end() (size int64, torn bool, err error) {
	fi, err := a.file.File().Stat()
	if err != nil || fi.Size() == 0 {
		return 0, false, err
	}
	var last [1]byte
	if _, err := a.file.File().ReadAt(last[:], fi.Size()-1); err != nil {
		return 0, false, err
	}
	return fi.Size(), last[0] != '\n', nil
}
