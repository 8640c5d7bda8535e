package eventslog

import (
	"context"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/pytime"
)

// maxShort is the size up to which the workers write lines anew, several at once. Longer
// ones are written anew by the goroutine that calls SliceTo, one at a time.
const maxShort = 128 << 10

// slicer cuts parts of a log, one after another.
type slicer struct {
	*slicing
	rs *records

	out    chan<- chunk
	text   []byte // of the next chunk
	events int    // that end in it

	renamer renamer
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
	raw := rec.raw
	if raw != nil {
		raw = raw[line.start:line.end]
	}
	var err error
	switch {
	case s.id == nil && raw != nil:
		s.text = append(s.text, raw...)
	case s.id == nil || raw == nil || size > maxShort:
		err = s.send(ctx, chunk{from: start, to: start + size, edits: slices.Clone(s.renamer.edits(line))})
	default:
		err = s.short(raw, line)
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

// short adds an object with its new ids.
func (s *slicer) short(raw []byte, line *scanner) error {
	parts, err := s.renamer.parts(raw, line)
	for _, p := range parts {
		s.text = append(s.text, p...)
	}
	return err
}
