package phaselog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const fileName = "phase_outputs.jsonl"

// Index knows the phases of one session. It reads on where the log grew, and
// anew when it is another. Its methods may be called by many goroutines.
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

// New returns an index of the phases of session id, which reads nothing yet.
func New(st *sessionstore.Store, id string) *Index { return &Index{store: st, id: id} }

// A State is what an Index told.
type State struct {
	Records []Record // by time of creation, then id
	Read    int64    // offset behind what the records are made of
	Damage  error    // of the first line that is no record; Is sessionstore.ErrCorrupt
}

// Records returns the phases whose last line ends behind offset since: all of
// them for 0, and for an offset behind the end of the log, which is another
// log then.
func (x *Index) Records(ctx context.Context, since int64) (State, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(ctx); err != nil {
		return State{}, err
	}
	s := State{Records: []Record{}, Read: x.read, Damage: x.damage}
	for _, e := range slices.SortedStableFunc(slices.Values(x.phases), byCreation) {
		if e.changed > since || since > x.read {
			s.Records = append(s.Records, e.Record)
		}
	}
	return s, nil
}

// refresh reads what was appended to the log.
func (x *Index) refresh(ctx context.Context) error {
	err := x.store.Inside().Read(ctx, x.id, func(dir *sessiondir.Dir) error {
		f, at, err := dir.Open(fileName)
		if errors.Is(err, fs.ErrNotExist) {
			x.reset()
			return nil
		}
		if err != nil {
			return err
		}
		err = x.readOn(ctx, f, at, dir.Path(fileName))
		return errors.Join(err, f.Close())
	})
	if err != nil {
		return fmt.Errorf("read phase outputs: %w", err)
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
