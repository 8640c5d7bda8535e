package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
)

// indexDir is the directory of the bookkeeping with the index, see package index.
const indexDir = "index"

// index returns the files of the index.
func (st *Store) index() *index.Files {
	return &index.Files{
		Read: func(name string) ([]byte, error) { return st.base.ReadKept(indexDir, name, index.MaxFile) },
		Open: func() (*vfs.Dir, error) { return st.base.Kept(indexDir) },
		Edit: func(name string) (*vfs.Edit, error) { return st.base.EditKept(indexDir, name) },
		Has:  st.base.Has,

		Alone: st.opts.SingleWriter,
	}
}

// seen is a message as package turns looks at it.
type seen struct{ Message }

func (m seen) From(name string) []byte { return m.from(name) }
func (m seen) Blocks() []byte          { return m.blocks() }

// rowOf returns what m is to its conversation.
func (m Message) rowOf() turns.Row {
	if m.m == nil {
		return turns.Row{}
	}
	return turns.Read(seen{m})
}

// beginsTurn reports whether m is a user message without a result of a tool.
func (m Message) beginsTurn() bool { return m.m.places.role == userRole && m.rowOf().Begins }

// indexReader hands the messages of lines to the index. It has one place in
// memory for all of them.
type indexReader struct {
	lines  lineReader
	sums   bool    // the index wants the hash of each line
	found  message // the message that is looked at
	prompt string  // of the first prompt with text
	keep   func(index.Row)

	take func(message) // of this reader, made once
	text func() bool
}

// newIndexReader returns one, with the sums of lines or without.
func newIndexReader(sums bool) *indexReader {
	r := &indexReader{sums: sums}
	r.take = func(m message) {
		r.found = m
		is := Message{&r.found}
		row := index.Row{Row: is.rowOf(), Prompt: is.isPrompt(), Text: r.text}
		if r.sums {
			row.Sum = is.sum()
		}
		r.keep(row)
	}
	r.text = func() bool {
		if r.prompt == "" {
			r.prompt = promptText(Message{&r.found})
		}
		return r.prompt != ""
	}
	return r
}

// parse is an [index.Parse].
func (r *indexReader) parse(line jsonl.Line, keep func(index.Row)) error {
	r.keep = keep
	return r.lines.parse(line, r.take)
}

// indexRow returns what the index has to know about m.
func (m Message) indexRow() index.Row {
	return index.Row{Row: m.rowOf(), Prompt: m.isPrompt(), Text: func() bool { return promptText(m) != "" }}
}

// isPrompt reports whether m is a prompt of a person; see [turns.IsPrompt].
func (m Message) isPrompt() bool {
	return m.m != nil && m.m.places.role == userRole && turns.IsPrompt(m.from("content"), m.from("metadata"), m.from("tool_call_id") != nil)
}

// openTranscript is a source of a transcript that was opened, with its index. What is
// asked for is read, and nothing else.
type openTranscript struct {
	file   *os.File
	dir    *sessiondir.Dir
	is     sessiondir.Stamp // before anything was read
	rows   *index.Rows
	own    []byte // the line that is read, if it has memory of its own
	failed bool   // what was read is not what the index says, or could not be read
}

// errUnindexed tells that a transcript has no index and must be read as a
// whole: it changes all the time, or it is no plain file.
var errUnindexed = errors.New("transcript changes while it is read")

// passes is how often a transcript is read because it changes meanwhile.
const passes = 3

// openIndexed opens the transcript in dir, brings its index up to date and
// writes that if it changed. The caller must close the file. trusted tells
// whether the stamp is enough to believe an index.
func (st *Store) openIndexed(ctx context.Context, dir *sessiondir.Dir, id string, trusted bool) (t *openTranscript, err error) {
	f, at, err := dir.Open(sessiondir.Transcript)
	if err != nil {
		return nil, err
	}
	t = &openTranscript{dir: dir, is: at}
	t.file, _ = f.(*os.File)
	defer func() {
		if err != nil {
			err = joinErrors(err, f.Close())
		}
	}()
	if t.file == nil {
		return nil, errUnindexed
	}
	files := st.index()
	t.rows = files.Rows(id)
	if trusted && t.rows != nil && t.rows.Fits(at) {
		return t, nil
	}
	if old := t.rows; trusted && old != nil && old.Begins(at) && t.readEnd(ctx) {
		if t.rows.Size-old.Size <= unwritten {
			return t, nil
		}
	} else if err := st.pass(ctx, t); err != nil {
		return nil, err
	}
	t.rows.ID = id
	if err := files.PutRows(ctx, t.rows); err != nil {
		st.log.Debug("index not written", "session", id, "err", err)
	}
	return t, nil
}

// unwritten is how many bytes at the end of a transcript are read anew each time
// before the index is written for them.
const unwritten = 256 << 10

// readEnd brings the index of t up to date, of which t is known to begin with what
// the index knows. It reports false when that takes a pass.
func (t *openTranscript) readEnd(ctx context.Context) bool {
	x, err := t.rows.ExtendEnd(ctx, t.file, t.is.Size, newIndexReader(true).parse)
	if err != nil {
		return false
	}
	now, err := t.dir.StampOf(t.file)
	if err != nil || !now.SameContent(t.is) || x.Size != t.is.Size {
		return false
	}
	x.Seen = index.Seen{Stamp: t.is, Sure: true}
	t.rows = x
	return true
}

// reliesOnTimes reports whether the times of files tell of all changes.
func (st *Store) reliesOnTimes() bool { return runtime.GOOS != "linux" || st.base.IsLocal() }

// noteAppend notes in the index that the transcript was of s has become now by an
// append. The append does not fail because of the index.
func (st *Store) noteAppend(s *session, was, now *cachedTranscript) {
	if was.size < index.LargeFrom || now.writtenTime.IsZero() || !st.reliesOnTimes() {
		return
	}
	if s.rowsFile == "" {
		s.rowsFile = sessiondir.Bookkeeping + "/" + indexDir + "/" + index.RowsName(s.id)
	}
	if _, regular, err := st.base.Stat(s.rowsFile, "."); err != nil || !regular {
		return // nobody has asked for parts of this session
	}
	a := index.Append{Was: was.main, Now: now.main, Wrote: !was.writtenTime.IsZero()}
	if err := st.index().NoteAppend(s.id, a); err != nil {
		st.log.Debug("append not noted in index", "session", s.id, "err", err)
	}
}

// pass makes the index of t from the one that it has, if any.
func (st *Store) pass(ctx context.Context, t *openTranscript) error {
	for range passes {
		asked := time.Now()
		is, err := t.dir.StampOf(t.file)
		if err != nil {
			return err
		}
		if err := t.scan(ctx, is.Size); err != nil {
			return err
		}
		now, err := t.dir.StampOf(t.file)
		if err != nil {
			return err
		}
		if now.SameContent(is) && t.rows.Size == is.Size {
			t.is = is
			t.rows.Seen = index.Seen{Stamp: is, Sure: st.base.Settled(is, asked) && st.reliesOnTimes()}
			return nil
		}
	}
	return errUnindexed
}

// scan reads the first size bytes of the transcript.
func (t *openTranscript) scan(ctx context.Context, size int64) error {
	if old := t.rows; old != nil && old.Size <= size {
		x, err := old.Extend(ctx, io.NewSectionReader(t.file, 0, size), newIndexReader(true).parse)
		if err == nil {
			t.rows = x
		}
		if err == nil || !errors.Is(err, index.ErrOther) {
			return err
		}
	}
	x, err := index.Build(ctx, io.NewSectionReader(t.file, 0, size), newIndexReader(true).parse)
	if err == nil {
		t.rows = x
	}
	return err
}

func (t *openTranscript) counts() (messages, turns int) { return t.rows.Messages, t.rows.Turns }
func (t *openTranscript) row(n int) index.Place         { return t.rows.Row(n) }
func (t *openTranscript) turn(n int) index.Place        { return t.rows.Turn(n) }

var errIndexCounts = errors.New("the index has other numbers of messages and turns than the transcript")

func (t *openTranscript) read(ctx context.Context, at index.Place, last int, visit func(m Message, at index.Place) bool) (err error) {
	defer func() { t.failed = err != nil }()
	lines, rows := t.rows.Lines(t.file, at), lineReader{}
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at.Turns == last { // a long line is not read in vain
			toRow, toTurn, long, err := lines.Long()
			if err == nil && long && toRow == at.Rows+1 && toTurn > last {
				return nil
			}
		}
		line, own, err := lines.Next()
		t.own = nil
		if own {
			t.own = line.Bytes
		}
		if errors.Is(err, io.EOF) && (at.Rows != t.rows.Messages || at.Turns != t.rows.Turns) {
			return errIndexCounts
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = rows.parse(line, func(found message) {
			m := Message{&found}
			at = at.Behind(m.beginsTurn(), m.sum())
			more = more && visit(m, at)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *openTranscript) kept(m Message) Message {
	own := *m.m
	if len(t.own) != len(own.raw) {
		own.raw = bytes.Clone(own.raw)
	}
	return Message{&own}
}
