package eventslog

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// maxWhole is the size up to which a line is written anew, which takes
// sixteen times its size at worst. Longer ones are spliced.
const maxWhole = 128 << 10

// slicer cuts parts of a log, one after another.
type slicer struct {
	*slicing
	rs *records

	out    chan<- chunk
	text   []byte // of the next chunk
	events int    // that end in it

	raw, dump []byte // a line, and as it is written anew
	list      [2]edit
}

// send sends the text and what c has behind it.
func (s *slicer) send(ctx context.Context, c chunk) error {
	c.text, c.events = s.text, s.events
	select {
	case s.out <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.text, s.events = s.empty(), 0
	return nil
}

// keeps reports whether the event is not after the cut.
func (s *slicer) keeps(line *scanner) bool {
	at := line.time()
	if !at.truthy() {
		return true
	}
	if at.kind != pyjson.String {
		s.rs.skipped++
		return false
	}
	t, _, err := pytime.Parse(at.text())
	if err != nil {
		s.rs.skipped++
	}
	return err == nil && !t.After(s.cut)
}

// line adds the event that was read to the text, or sends it.
func (s *slicer) line(ctx context.Context, rec record) error {
	line := &s.rs.scan
	if !s.keeps(line) {
		return nil
	}
	start, size := rec.offset+line.start, line.end-line.start
	if n := int64(len(s.text)); n > 0 && size < blockSize && n+size >= int64(cap(s.text)) {
		if err := s.send(ctx, chunk{}); err != nil { // rather than let the text grow
			return err
		}
	}
	var edits []edit
	if s.id != nil {
		edits = s.edits(line)
	}
	raw := rec.raw
	if raw != nil {
		raw = raw[line.start:line.end]
	}
	var err error
	switch {
	case size <= maxWhole:
		err = s.short(raw, start, size, edits)
	case raw != nil && edits == nil:
		s.text = append(s.text, raw...)
	default:
		err = s.long(ctx, start, size, edits)
	}
	if err != nil {
		return err
	}
	s.text = append(s.text, '\n')
	s.events++
	if len(s.text) < textSize {
		return nil
	}
	return s.send(ctx, chunk{})
}

// short adds a line of size bytes; raw is nil when it is not at hand.
func (s *slicer) short(raw []byte, start, size int64, edits []edit) error {
	if raw == nil {
		s.raw = slices.Grow(s.raw[:0], int(size))[:size]
		raw = s.raw
		if _, err := io.ReadFull(io.NewSectionReader(s.src, start, size), raw); err != nil {
			return err
		}
	}
	if edits == nil {
		s.text = append(s.text, raw...)
		return nil
	}
	if !isDumped(raw) {
		var err error
		if s.dump, err = pyjson.Append(s.dump[:0], raw, pyjson.Style{}); err != nil {
			return err
		}
		if !bytes.Equal(s.dump, raw) { // the places are others
			s.text = append(s.text, s.renamed(s.dump)...)
			return nil
		}
	}
	done := int64(0)
	for _, e := range edits {
		s.text = append(s.text, raw[done:e.start]...)
		s.text = append(append(s.text, e.name...), e.text...)
		s.text = append(s.text, raw[e.from:e.to]...)
		done = e.end
	}
	s.text = append(s.text, raw[done:]...)
	return nil
}

// renamed returns the line with its new ids.
func (s *slicer) renamed(line []byte) []byte {
	was, _ := pyjson.Lookup(line, "session_id")
	known, parent := pyjson.Truthy(was), s.parent
	if parent == nil {
		parent = slices.Clone(was)
	}
	line = pyjson.Splice(line, "session_id", s.id)
	if known {
		line = pyjson.Splice(line, "parent_session_id", parent)
	}
	return line
}

// edit is a change of an object: name and text, and then a part of the object
// itself, in the place of the bytes from start to end.
type edit struct {
	start, end int64
	name       string // of a new member, with what stands around it
	text       []byte
	from, to   int64
}

// edits returns what gives the object its new ids, in the order of the places.
// They are valid until the next call.
func (s *slicer) edits(line *scanner) []edit {
	h, list := &line.head, s.list[:1]
	list[0] = place(&h.session, line, `, "session_id": `)
	list[0].text = s.id
	if line.empty {
		list[0].name = list[0].name[len(", "):]
	}
	if !h.session.truthy() {
		return list
	}
	parent := place(&h.parent, line, `, "parent_session_id": `)
	if parent.text = s.parent; parent.text == nil {
		parent.from, parent.to = h.session.start-line.start, h.session.end-line.start
	}
	if parent.start < list[0].start {
		return append(s.list[:0], parent, list[0])
	}
	return append(list, parent)
}

// place returns an edit of the member, or one that adds it at the object's end.
func place(v *value, line *scanner, name string) edit {
	if v.kind == pyjson.Invalid {
		last := line.end - line.start - 1
		return edit{start: last, end: last, name: name}
	}
	return edit{start: v.start - line.start, end: v.end - line.start}
}

// long sends an object too long to be held, from start on in the log.
func (s *slicer) long(ctx context.Context, start, size int64, edits []edit) error {
	done := int64(0)
	for _, e := range edits {
		if err := s.send(ctx, chunk{from: start + done, to: start + e.start}); err != nil {
			return err
		}
		s.text = append(append(s.text, e.name...), e.text...)
		if e.from < e.to {
			if err := s.send(ctx, chunk{from: start + e.from, to: start + e.to}); err != nil {
				return err
			}
		}
		done = e.end
	}
	return s.send(ctx, chunk{from: start + done, to: start + size})
}
