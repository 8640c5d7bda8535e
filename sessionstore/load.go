package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Session is a session as it was read.
type Session struct {
	ID        string
	Messages  []Message
	Metadata  Metadata
	Revision  Revision
	Recovered *Recovery // nil when both files were read as they are
}

// Load reads a session, as tolerantly as the reference: the backup replaces a file that
// is damaged or missing, and then the error is nil and Recovered is set. When both are
// damaged, Load returns everything that could be read, with the reference's placeholder
// for metadata, and an error that Is [ErrCorrupt]. The error also Is ErrCorrupt when
// transcript and backup are missing though the metadata count turns: [Store.Append] and
// [Store.Save] then begin a new transcript, unless the messages are still in the
// directory, as a placeholder of iCloud or another device's version. A session without
// files is empty; a session without a directory is [ErrNotFound]. A file that may not be
// read counts as damaged, and its backup is read. Load fails instead while the process
// lacks descriptors or memory, while another program does not share the file, and when
// the file is too large for a program of 32 bits: none of these means that the file is
// damaged. Load never writes. After a killed append it returns the same messages as the
// Python tools: those before the append, or those with all the new ones. The messages
// share the memory of the transcript; see [Message.Clone].
func (st *Store) Load(ctx context.Context, id string) (*Session, error) {
	start := st.clock()
	s, err := st.loadOpen(ctx, id)
	return s, st.loaded(ctx, "load", start, s, id, err)
}

func (st *Store) loadOpen(ctx context.Context, id string) (*Session, error) {
	err := st.admit(ctx)
	if err != nil {
		return nil, wrap("load", id, err)
	}
	defer st.calls.Done()
	dir, err := st.openDir(id)
	if err != nil {
		return nil, wrap("load", id, err)
	}
	s, damage, err := st.load(ctx, dir, id)
	if err = joinErrors(err, dir.Close()); err != nil {
		return nil, wrap("load", id, err)
	}
	return s, wrap("load", id, damage)
}

func (st *Store) load(ctx context.Context, dir *sessiondir.Dir, id string) (s *Session, damage, err error) {
	entry := st.cache.call(id)
	defer st.cache.end(entry)
	m := st.metadataOf(entry, dir, id)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	t := st.transcriptOf(ctx, entry, dir, id, m.md)
	if errors.Is(t.unread, ErrNotFound) {
		return nil, nil, t.unread
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	s = &Session{ID: id, Messages: slices.Clone(t.rows), Metadata: m.md, Revision: t.revision()}
	s.Recovered = joinRecovery(t.recovered, m.recovered)
	if s.Recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", s.Recovered.Reason)
	}
	return s, joinErrors(t.damage, m.damage), nil
}

// loaded reports a call that read a session to the observer, and returns its error.
func (st *Store) loaded(ctx context.Context, op string, start time.Time, s *Session, id string, err error) error {
	if st.opts.Observer != nil {
		recovered := s != nil && s.Recovered != nil
		st.opts.Observer.Called(ctx, Call{Op: op, Session: id, Start: start, Recovered: recovered, Err: err})
	}
	return err
}

// Messages yields the messages of a session in order, chosen and recovered as by
// [Store.Load], with one line in memory at a time. It does not report, as Load does, that
// they come from the backup. The error comes last: [ErrCorrupt] after all readable
// messages. Saves during the iteration are not seen. Each message has memory of its own,
// unless it comes from a backup; see [Message.Clone].
func (st *Store) Messages(ctx context.Context, id string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		err := st.admit(ctx)
		if err != nil {
			yield(Message{}, wrap("read", id, err))
			return
		}
		defer st.calls.Done()
		more := true
		err = st.stream(ctx, id, func(m Message) bool {
			more = yield(m, nil)
			return more
		})
		if err != nil && more {
			yield(Message{}, wrap("read", id, err))
		}
	}
}

// stream hands the messages of a session to yield until it returns false. It reads a
// sound transcript twice, a line at a time, so that it yields no message before the whole
// file is known to be sound.
func (st *Store) stream(ctx context.Context, id string, yield func(Message) bool) (err error) {
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, dir.Close()) }()
	f, at, err := dir.Open(sessiondir.Transcript)
	if err == nil {
		defer func() { err = joinErrors(err, f.Close()) }()
		path := dir.Path(sessiondir.Transcript)
		sound := at.Size > 0 && !mayBeAppending(dir)
		if sound {
			err := scanRows(ctx, f, path, nil)
			sound = err == nil
			if ctx.Err() != nil {
				return err
			}
		}
		if sound {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			return scanRows(ctx, f, path, func(m Message) bool {
				m.m.raw = bytes.Clone(m.m.raw)
				return yield(m)
			})
		}
	}
	s := st.cache.call(id)
	defer st.cache.end(s)
	t := st.transcriptOf(ctx, s, dir, id, readMetadata(dir, id, st.opts.Now).md)
	for _, m := range t.rows {
		if !yield(m) {
			return nil
		}
	}
	return t.damage
}

// scanRows hands the messages in r to yield, each of which is valid until yield returns, and
// returns the first damage. With a nil yield it only looks for damage.
func scanRows(ctx context.Context, r io.Reader, path string, yield func(Message) bool) error {
	lines, rows := jsonl.NewReader(r), lineReader{}
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
		more := true
		err = rows.parse(line, func(m message) {
			if more && yield != nil {
				more = yield(Message{&m})
			}
		})
		if !more {
			return nil
		}
		if err != nil {
			return &CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: err}
		}
	}
}

// Metadata reads the metadata of a session, recovered as by [Store.Load].
func (st *Store) Metadata(ctx context.Context, id string) (Metadata, error) {
	err := st.admit(ctx)
	if err != nil {
		return Metadata{}, wrap("read metadata of", id, err)
	}
	defer st.calls.Done()
	if checkID(id) == nil {
		if md, ok := st.quickMetadata(id); ok {
			return md, nil
		}
	}
	dir, err := st.openDir(id)
	if err != nil {
		return Metadata{}, wrap("read metadata of", id, err)
	}
	s := st.cache.call(id)
	defer st.cache.end(s)
	m := st.metadataOf(s, dir, id)
	if m.recovered != nil {
		st.log.Warn("read backup in place of damaged file", "session", id, "err", m.recovered.Reason)
	}
	if err := dir.Close(); err != nil {
		return Metadata{}, wrap("read metadata of", id, fmt.Errorf("close directory: %w", err))
	}
	return m.md, wrap("read metadata of", id, m.damage)
}

// quickMetadata returns the metadata of a session. ok is false when the file is damaged or
// cannot be read in one step: the caller then reads it with recovery.
func (st *Store) quickMetadata(id string) (md Metadata, ok bool) {
	data, ok := st.base.ReadFast(id, sessiondir.Metadata)
	if !ok {
		return Metadata{}, false
	}
	md, err := metadataIn(data)
	return md, err == nil
}

// chunkSize is the size of a part of a transcript that is worth a goroutine of its own,
// and parsedAtOnce the number of bytes that are parsed between two looks at the context.
const (
	chunkSize    = 1 << 20
	parsedAtOnce = 1 << 20
)

// parseRows returns the messages of f that can be read, and marks f damaged by the first
// line that cannot be read. Large files are parsed in chunks at once. When ctx ends, some
// messages are missing: the caller looks at ctx.
func (f *file) parseRows(ctx context.Context) []Message {
	chunks := split(f.data, min(runtime.GOMAXPROCS(0), len(f.data)/chunkSize))
	var wait sync.WaitGroup
	for i := range chunks[1:] {
		wait.Go(func() { chunks[1+i].parse(ctx) })
	}
	chunks[0].parse(ctx)
	wait.Wait()
	size, lines := 0, 0
	for _, c := range chunks {
		if c.bad != nil && f.bad == nil {
			c.bad.Path = f.path
			c.bad.Line += lines
			f.bad = c.bad
		}
		lines += c.lines
		size += len(c.rows)
	}
	rows := slices.Grow(chunks[0].rows, size-len(chunks[0].rows))
	for _, c := range chunks[1:] {
		rows = append(rows, c.rows...)
	}
	return rows
}

// chunk is a run of whole lines of a file.
type chunk struct {
	data  []byte
	at    int64 // where it begins
	lines int
	rows  []Message
	bad   *CorruptError // of the first bad line, by its number in the chunk and without the path
}

// split divides data into about n chunks at ends of lines, and into one where n
// is less than two.
func split(data []byte, n int) []chunk {
	chunks := make([]chunk, 0, max(n, 1))
	at := 0
	for i := n; i > 1; i-- {
		end := at + (len(data)-at)/i
		eol := bytes.IndexByte(data[end:], '\n')
		if eol < 0 {
			break
		}
		end += eol + 1
		chunks = append(chunks, newChunk(data, at, end))
		at = end
	}
	return append(chunks, newChunk(data, at, len(data)))
}

func newChunk(data []byte, at, end int) chunk {
	return chunk{data: data[at:end:end], at: int64(at)}
}

// parse reads the lines, until ctx ends.
func (c *chunk) parse(ctx context.Context) {
	c.lines = jsonl.Count(c.data)
	slab := make([]message, 0, c.lines)
	c.rows = make([]Message, 0, c.lines)
	keep := func(m message) {
		if len(slab) == cap(slab) { // more rows than lines: split at CR
			slab = make([]message, 0, 64)
		}
		slab = append(slab, m)
		c.rows = append(c.rows, Message{&slab[len(slab)-1]})
	}
	var lines lineReader
	look := int64(parsedAtOnce)
	for line := range jsonl.Lines(c.data) {
		if line.Offset >= look {
			if ctx.Err() != nil {
				return
			}
			look = line.Offset + parsedAtOnce
		}
		if err := lines.parse(line, keep); err != nil && c.bad == nil {
			c.bad = &CorruptError{Line: line.Number, Offset: c.at + line.Offset, Err: err}
		}
	}
}

// lineReader reads messages out of lines. The zero lineReader is ready.
type lineReader struct {
	spans []pyjson.Span // memory for the spans of a row
}

// parse hands the message of a line to keep; a blank line has none. A line that
// does not parse whole but holds carriage returns is split at them, since the
// older tools read it so.
func (r *lineReader) parse(line jsonl.Line, keep func(message)) error {
	return jsonl.ReadRows(line, func(raw []byte) error { return r.row(raw, keep) })
}

// row parses a line that needs no splitting.
func (r *lineReader) row(raw []byte, keep func(message)) error {
	row := pyjson.TrimSpace(raw)
	if len(row) == 0 {
		return nil
	}
	r.spans = r.spans[:0]
	if err := pyjson.CheckSpans(row, pyjson.Tolerant, &r.spans); err != nil {
		return err
	}
	m := message{raw: raw, places: places{read: true}}
	for i := range r.spans {
		m.places.note(row, &r.spans[i], offset(raw, row))
	}
	keep(m)
	return nil
}
