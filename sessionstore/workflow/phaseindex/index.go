package phaseindex

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/show"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const fileName = "phase_outputs.jsonl"

// Index knows the phases of one session. It reads on where the log grew, and from
// the beginning where another log stands in its place. It holds no file open.
// Its methods may be called by many goroutines; they fail with
// [sessionstore.ErrClosed] when the store is closed.
type Index struct {
	store *sessionstore.Store
	id    string

	mu     sync.Mutex // guards what follows
	log    sessiondir.Stamp
	read   int64  // offset behind the last line that was taken
	mark   []byte // the last bytes before read: the log is still the same
	lines  int
	open   bool // the last of them lacks its LF
	lastID int64
	phases []*entry
	byID   map[string]*entry // by phase id
	damage error
}

// markSize is how much of what was read is looked at again.
const markSize = 1 << 10

// New returns an index of the phases of session id of st. It reads nothing yet.
func New(st *sessionstore.Store, id string) *Index { return &Index{store: st, id: id} }

// refresh reads what was appended to the log, and then calls then with it. There
// is no such call where it is nil or the session has no log.
func (x *Index) refresh(ctx context.Context, then func(log io.ReadSeeker) error) error {
	err := core.Of(x.store).Read(ctx, x.id, func(dir *sessiondir.Dir) error {
		f, at, err := dir.Open(fileName)
		if errors.Is(err, fs.ErrNotExist) {
			x.reset()
			return nil
		}
		if err != nil {
			return err
		}
		err = x.readOn(ctx, f, at, dir.Path(fileName))
		if err == nil && then != nil {
			err = then(f)
		}
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return fmt.Errorf("read phase outputs of session %q: %w", show.ID(x.id), err)
	}
	return nil
}

func (x *Index) reset() {
	x.log, x.read, x.mark, x.lines, x.open, x.lastID = sessiondir.Stamp{}, 0, nil, 0, false, 0
	x.phases, x.byID, x.damage = nil, map[string]*entry{}, nil
}

func (x *Index) readOn(ctx context.Context, f io.ReadSeeker, at sessiondir.Stamp, path string) error {
	same, err := x.sameLog(f, at)
	if err != nil {
		return err
	}
	if !same {
		x.reset()
	}
	x.log = at
	if _, err := f.Seek(x.read, io.SeekStart); err != nil {
		return err
	}
	lines := jsonl.NewReader(f)
	base, first := x.read, x.lines
	if x.open {
		first-- // what is read next is the rest of that line
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line.Offset, line.Number = line.Offset+base, line.Number+first
		x.takeLine(line, path, line.Offset+int64(len(line.Bytes))+1 >= at.Size)
	}
}

// sameLog reports whether what was read is still the beginning of f.
func (x *Index) sameLog(f io.ReadSeeker, at sessiondir.Stamp) (bool, error) {
	if x.read == 0 || at.Size < x.read || at.Inode != x.log.Inode || at.Dev != x.log.Dev {
		return false, nil
	}
	if _, err := f.Seek(x.read-int64(len(x.mark)), io.SeekStart); err != nil {
		return false, err
	}
	now := make([]byte, len(x.mark))
	if _, err := io.ReadFull(f, now); err != nil {
		return false, err
	}
	return bytes.Equal(now, x.mark), nil
}

// takeLine takes one line. What follows the lines that were written whole was
// never acknowledged: it waits, as [jsonl.Log] has it.
func (x *Index) takeLine(line jsonl.Line, path string, last bool) {
	if !line.Ended {
		line.Bytes = bytes.TrimRight(line.Bytes, "\x00") // where an LF was to be
	}
	r, ok := parseRow(line.Bytes)
	switch {
	case !ok && !line.Ended:
		return
	case ok:
		x.take(r, span{line.Offset, len(line.Bytes)})
	case last && bytes.IndexByte(line.Bytes, 0) >= 0:
		return
	case len(bytes.TrimSpace(line.Bytes)) > 0:
		x.skipID()
		if x.damage == nil {
			x.damage = &sessionstore.CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: errors.New("not a record")}
		}
	}
	x.read, x.lines, x.open = line.Offset+int64(len(line.Bytes)), line.Number, !line.Ended
	x.mark = append(x.mark[:0], line.Bytes[max(0, len(line.Bytes)-markSize):]...)
	if line.Ended {
		x.read++
		x.mark = append(x.mark, '\n')
	}
}

// take notes a row; one without an id, which other tools may write, gets the
// next.
func (x *Index) take(r row, at span) {
	if r.ID <= 0 {
		x.skipID()
		r.ID = x.lastID
	}
	x.lastID = max(x.lastID, r.ID)
	e := x.byID[r.PhaseID]
	if e == nil {
		e = &entry{}
		e.SessionID = x.id
		x.byID[r.PhaseID] = e
		x.phases = append(x.phases, e)
	}
	e.take(r, at)
}

func (x *Index) skipID() {
	if x.lastID < math.MaxInt64 {
		x.lastID++
	}
}
