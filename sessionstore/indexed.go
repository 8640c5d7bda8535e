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
	"github.com/amplifier-go/sessionstorage/internal/format/picture"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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

// indexReader hands the messages of lines to the index. It uses one place in memory for
// all of them.
type indexReader struct {
	lines  lineReader
	sums   bool    // the index wants the hash of each line
	found  message // the present message
	prompt string  // of the first prompt with text
	keep   func(index.Row)

	take func(message) // of this reader, made once
	text func() bool
}

// newIndexReader returns an indexReader, with the sums of lines or without.
func newIndexReader(sums bool) *indexReader {
	r := &indexReader{sums: sums}
	r.take = func(m message) {
		r.found = m
		is := Message{&r.found}
		row := index.Row{Row: is.rowOf(), Prompt: is.isPrompt(), Text: r.text, Pictures: is.pictures()}
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

// indexRow returns the facts about m that the index needs.
func (m Message) indexRow() index.Row {
	return index.Row{Row: m.rowOf(), Prompt: m.isPrompt(), Text: func() bool { return promptText(m) != "" }, Pictures: m.pictures()}
}

// pictures returns what the pictures of m are, where providers look at them.
func (m Message) pictures() index.Pictures {
	if m.m == nil || m.m.places.role != userRole && m.m.places.role != toolRole {
		return index.Pictures{}
	}
	return picturesIn(m.blocks(), m.m.places.role == userRole)
}

// picturesIn returns what the pictures in content are, with results those in results of calls too.
func picturesIn(content []byte, results bool) (all index.Pictures) {
	if !bytes.Contains(content, []byte("image")) {
		return all
	}
	for block := range pyjson.Elements(content) {
		f := turns.Members(block, "type", "source", "image_url", "content")
		data, from := f[2], 1
		switch kind := turns.TextOf(f[0]); {
		case kind == "tool_result" && results:
			all.Add(picturesIn(f[3], false))
			continue
		case kind == "image":
			data = turns.Members(f[1], "data")[0]
		case kind == "image_url" || kind == "input_image":
			if in := turns.Members(data, "url")[0]; in != nil {
				data = in
			}
			if !bytes.HasPrefix(data, []byte(`"data:`)) {
				continue // it is elsewhere
			}
			from = bytes.IndexByte(data, ',') + 1
		default:
			continue
		}
		if from == 0 || pyjson.KindOf(data) != pyjson.String || bytes.IndexByte(data, '\\') >= 0 {
			continue
		}
		is, whole := picture.Read(data[from : len(data)-1])
		p := index.Pictures{Pictures: 1}
		if shown := picture.Of(is); !whole || shown.Type == "" {
			p.Refused = 1
		} else {
			p.Side = max(shown.Width, shown.Height)
		}
		all.Add(p)
	}
	return all
}

// openTranscript is a source that reads an open transcript with its index. It reads only
// the requested messages.
type openTranscript struct {
	file   *os.File
	dir    *sessiondir.Dir
	rows   *index.Rows
	prompt string // the text of the first prompt, if the last pass over the transcript found it
	failed bool   // the messages could not be read, or contradict the index
}

// errUnindexed is returned for a transcript that cannot have an index and must be read
// whole: the transcript changes all the time, or it is no plain file.
var errUnindexed = errors.New("transcript changes while it is read")

// passes is the number of tries to read a transcript that changes during the read.
const passes = 3

// openIndexed opens the transcript in dir, brings its index up to date and writes that if
// it changed. The caller must close the file. A matching stamp is enough to trust an
// index.
func (st *Store) openIndexed(ctx context.Context, dir *sessiondir.Dir, id string) (t *openTranscript, err error) {
	f, at, err := dir.Open(sessiondir.Transcript)
	if err != nil {
		return nil, err
	}
	t = &openTranscript{dir: dir}
	t.file, _ = f.(*os.File)
	defer func() {
		if err != nil {
			err = joinErrors(err, f.Close())
		}
	}()
	if t.file == nil {
		return nil, errUnindexed
	}
	old := st.index().Rows(id)
	if t.rows = old; old != nil && old.Fits(at) {
		return t, nil
	}
	known, err := st.pass(ctx, t, true)
	if err != nil || known && t.rows.Size-old.Size <= unwritten {
		return t, err
	}
	st.putRows(ctx, id, t)
	return t, nil
}

// reindex builds the index of t anew and writes it. It does not use the present index,
// whatever its stamp.
func (st *Store) reindex(ctx context.Context, id string, t *openTranscript) error {
	if _, err := st.pass(ctx, t, false); err != nil {
		return err
	}
	st.putRows(ctx, id, t)
	return nil
}

// putRows writes the index of t. It only logs a failure: the next call makes the index.
func (st *Store) putRows(ctx context.Context, id string, t *openTranscript) {
	t.rows.ID = id
	if err := st.index().PutRows(ctx, t.rows); err != nil {
		st.log.Debug("index not written", "session", id, "err", err)
	}
}

// unwritten is the most bytes at the end of a transcript that are read anew each time,
// instead of writing the index for them.
const unwritten = 256 << 10

// reliesOnTimes reports whether every change of a file shows in its times.
func (st *Store) reliesOnTimes() bool { return runtime.GOOS != "linux" || st.base.IsLocal() }

// pass builds the index of t, from the present index if there is one. known reports
// whether only appends of this library came since the present index, as far as an index
// that is trusted shows.
func (st *Store) pass(ctx context.Context, t *openTranscript, trusted bool) (known bool, err error) {
	for range passes {
		asked := time.Now()
		is, err := t.dir.StampOf(t.file)
		if err != nil {
			return false, err
		}
		x, known, err := t.scan(ctx, is, trusted)
		if err != nil {
			return false, err
		}
		now, err := t.dir.StampOf(t.file)
		if err != nil {
			return false, err
		}
		if now.SameContent(is) && x.Size == is.Size {
			x.Seen = index.Seen{Stamp: is, Sure: known || st.base.Settled(is, asked) && st.reliesOnTimes()}
			t.rows = x
			return known, nil
		}
	}
	return false, errUnindexed
}

// scan reads the transcript with the stamp is: its end if t's index is known to be right
// about its beginning, else all of it.
func (t *openTranscript) scan(ctx context.Context, is sessiondir.Stamp, trusted bool) (x *index.Rows, known bool, err error) {
	reader := &indexReader{}
	defer func() { t.prompt = reader.prompt }()
	parse := func() index.Parse { // of one try
		reader = newIndexReader(true)
		return reader.parse
	}
	old, all := t.rows, func() index.Source { return io.NewSectionReader(t.file, 0, is.Size) }
	if trusted && old != nil && old.Begins(is) {
		if x, err := old.ExtendEnd(ctx, t.file, is.Size, parse()); err == nil {
			return x, true, nil
		}
	}
	if old != nil && old.Size <= is.Size {
		x, err := old.Extend(ctx, all(), parse())
		if err == nil || !errors.Is(err, index.ErrOther) {
			return x, false, err
		}
	}
	x, err = index.Build(ctx, all(), parse())
	return x, false, err
}

func (t *openTranscript) counts() (messages, turns int) { return t.rows.Messages, t.rows.Turns }

func (t *openTranscript) read(ctx context.Context, s span, visit func(m Message, at index.Place) bool) (err error) {
	defer func() { t.failed = err != nil }()
	at := t.rows.At(s.row, s.turn)
	lines, rows := t.rows.Lines(t.file, at), lineReader{}
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if at.Turns == s.last { // a long line is not read in vain
			toRow, toTurn, long, err := lines.Long()
			if err == nil && long && toRow == at.Rows+1 && toTurn > s.last {
				return nil
			}
		}
		line, own, err := lines.Next()
		if errors.Is(err, io.EOF) && at.Rows == t.rows.Messages && at.Turns == t.rows.Turns {
			return nil
		}
		if err != nil {
			return err
		}
		err = rows.parse(line, func(found message) {
			m := Message{&found}
			at.Pass(m.beginsTurn(), m.sum())
			if more = more && at.Turns <= s.last; !more || !s.begun(at) {
				return
			}
			if !own || len(found.raw) < len(line.Bytes) {
				found.raw = bytes.Clone(found.raw)
			}
			more = visit(m, at)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
