package eventslog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// maxWhole is the size up to which a line is held to be written anew.
const maxWhole = 1 << 20

// SliceTo writes the events up to the time cut, and those without a time, to
// dst, one a line, and returns how many. Lines that are no events, and events
// whose time cannot be read, are left out; a time without an offset is in UTC.
//
// Lines keep their bytes, but for white space around them, when newSessionID
// is empty. Otherwise they are written as json.dumps does with that as their
// session_id, and those that had one get parentID, or what they had when that
// is empty, as their parent_session_id. Of lines beyond 1 MiB only these two
// members change.
//
// A missing log is [fs.ErrNotExist]. After an error dst has the events before it.
func (l *Log) SliceTo(ctx context.Context, dst io.Writer, cut time.Time, newSessionID, parentID string) (n int, err error) {
	f, err := l.open()
	if err != nil {
		return 0, fmt.Errorf("slice events: %w", err)
	}
	s := slicer{src: f, dst: bufio.NewWriterSize(dst, blockSize), cut: cut}
	if newSessionID != "" {
		s.id = pyjson.AppendQuoted(nil, newSessionID, pyjson.Style{})
		if parentID != "" {
			s.parent = pyjson.AppendQuoted(nil, parentID, pyjson.Style{})
		}
	}
	err = l.slice(ctx, &s)
	if err = errors.Join(err, s.dst.Flush(), f.Close()); err != nil {
		return s.n, fmt.Errorf("slice events: %w", err)
	}
	return s.n, nil
}

func (l *Log) slice(ctx context.Context, s *slicer) error {
	rs, err := newRecords(s.src, Cursor{}, l.newer)
	if err != nil {
		return err
	}
	for {
		rec, err := rs.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !l.event(&rs.scan) || !s.keeps(&rs.scan) {
			continue
		}
		if err := s.write(rec, &rs.scan); err != nil {
			return err
		}
		s.n++
	}
}

// slicer writes the events that are kept.
type slicer struct {
	src        io.ReaderAt
	dst        *bufio.Writer
	cut        time.Time
	id, parent []byte // JSON strings; nil: none
	n          int
}

func (s *slicer) keeps(line *scanner) bool {
	at := line.time()
	if !at.truthy() {
		return true
	}
	if at.kind != pyjson.String {
		return false
	}
	t, _, err := pytime.Parse(at.text())
	return err == nil && !t.After(s.cut)
}

func (s *slicer) write(rec record, line *scanner) error {
	size := line.end - line.start
	object := io.NewSectionReader(s.src, rec.offset+line.start, size)
	raw := rec.raw
	if raw != nil {
		raw = raw[line.start:line.end]
	}
	var err error
	switch {
	case s.id == nil && raw != nil:
		_, err = s.dst.Write(raw)
	case s.id == nil:
		err = s.copy(object, 0, size)
	case raw == nil && size > maxWhole:
		err = s.splice(object, line)
	default:
		if raw == nil {
			raw = make([]byte, size)
			if _, err := io.ReadFull(object, raw); err != nil {
				return err
			}
		}
		err = s.rewrite(raw)
	}
	if err != nil {
		return err
	}
	return s.dst.WriteByte('\n')
}

// rewrite writes the object anew with its new ids.
func (s *slicer) rewrite(raw []byte) error {
	line, err := pyjson.Append(nil, raw, pyjson.Style{})
	if err != nil {
		return err
	}
	was, ok := pyjson.Lookup(line, "session_id")
	parent := s.parent
	if parent == nil {
		parent = slices.Clone(was)
	}
	known := ok && truthy(was)
	line = pyjson.Splice(line, "session_id", s.id)
	if known {
		line = pyjson.Splice(line, "parent_session_id", parent)
	}
	_, err = s.dst.Write(line)
	return err
}

// edit is a change of an object: text, and then a part of the object itself,
// in the place of the bytes from start to end.
type edit struct {
	start, end int64
	text       []byte
	from, to   int64
}

// splice writes an object too long to be held with its new ids.
func (s *slicer) splice(object *io.SectionReader, line *scanner) error {
	h, last := &line.head, object.Size()-1
	place := func(v *value, name string) edit {
		if v.kind == pyjson.Invalid {
			return edit{start: last, end: last, text: []byte(`, "` + name + `": `)}
		}
		return edit{start: v.start - line.start, end: v.end - line.start}
	}
	id := place(&h.session, "session_id")
	id.text = append(id.text, s.id...)
	edits := []edit{id}
	if h.session.truthy() {
		parent := place(&h.parent, "parent_session_id")
		parent.text = append(parent.text, s.parent...)
		if s.parent == nil {
			parent.from, parent.to = h.session.start-line.start, h.session.end-line.start
		}
		edits = append(edits, parent)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return int(min(1, max(-1, a.start-b.start))) })
	done := int64(0)
	for _, e := range edits {
		if err := s.copy(object, done, e.start); err != nil {
			return err
		}
		if _, err := s.dst.Write(e.text); err != nil {
			return err
		}
		if err := s.copy(object, e.from, e.to); err != nil {
			return err
		}
		done = e.end
	}
	return s.copy(object, done, last+1)
}

// copy writes the bytes of src from start to end.
func (s *slicer) copy(src io.ReaderAt, start, end int64) error {
	n, err := io.Copy(s.dst, io.NewSectionReader(src, start, end-start))
	if err == nil && n < end-start {
		err = io.ErrUnexpectedEOF // the file was cut meanwhile
	}
	return err
}
