package eventslog

import (
	"errors"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// maxWhole is the size up to which a line is held, which takes twenty times its size at
// worst. In longer ones only the ids change.
const maxWhole = 1 << (24 + 6*(^uint(0)>>63)) // 16 MiB in a program of 32 bits, else 1 GiB

// What stands before the value of a new member.
const (
	sessionName = `, "session_id": `
	parentName  = `, "parent_session_id": `
)

// renamer gives objects their new ids, one after another.
type renamer struct {
	*slicing
	raw, dump []byte // an object, and as json.dumps writes it
	scan      scanner
	list      [2]edit
	all       [][]byte
}

// put writes the text of c to out, and the object behind it with its new ids.
func (r *renamer) put(out *output, c chunk) error {
	if err := out.text(c.text); err != nil || c.err != nil {
		return errors.Join(err, c.err)
	}
	if c.edits == nil || c.to-c.from > r.whole {
		return r.splice(out, c)
	}
	raw, err := r.read(c.from, c.to)
	if err != nil {
		return err
	}
	parts, err := r.parts(raw, r.scanned(raw, r.log.newer))
	for _, p := range parts {
		if err := out.text(p); err != nil {
			return err
		}
	}
	return err
}

// read reads a part of the log, which may have been cut meanwhile.
func (r *renamer) read(from, to int64) ([]byte, error) {
	size := int(to - from)
	if cap(r.raw) < size {
		r.raw = make([]byte, size)
	}
	r.raw = r.raw[:size]
	n, err := r.src.ReadAt(r.raw, from)
	if n == len(r.raw) {
		return r.raw, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// scanned returns a scanner that has read the object.
func (r *renamer) scanned(raw []byte, newer bool) *scanner {
	r.scan.newer = newer
	r.scan.reset()
	r.scan.feed(raw)
	return &r.scan
}

// splice writes the part of the log that c names with its edits. The error is
// io.ErrUnexpectedEOF when the log was cut meanwhile.
func (r *renamer) splice(out *output, c chunk) error {
	done := c.from
	for _, e := range c.edits {
		if err := out.copy(r.src, done, c.from+e.start); err != nil {
			return err
		}
		if err := out.text(e.text); err != nil {
			return err
		}
		if err := out.copy(r.src, c.from+e.from, c.from+e.to); err != nil {
			return err
		}
		done = c.from + e.end
	}
	return out.copy(r.src, done, c.to)
}

// parts returns what json.dumps writes of the object, which line has read, with its new ids.
// They are valid until the next call.
func (r *renamer) parts(raw []byte, line *scanner) ([][]byte, error) {
	if !line.valid() {
		return nil, ErrRewritten
	}
	if !isDumped(raw) {
		dump, err := pyjson.Append(r.dump[:0], raw, pyjson.Style{})
		if err != nil {
			return nil, err
		}
		r.dump, raw, line = dump, dump, r.scanned(dump, false)
	}
	all, done := r.all[:0], int64(0)
	for _, e := range r.edits(line) {
		all = append(all, raw[done:e.start], e.text, raw[e.from:e.to])
		done = e.end
	}
	r.all = append(all, raw[done:])
	return r.all, nil
}

// edits returns what gives the object its new ids, in the order of the places; nil: there are
// none. They are valid until the next call.
func (r *renamer) edits(line *scanner) []edit {
	if r.id == nil {
		return nil
	}
	h, list := &line.head, r.list[:1]
	list[0] = place(&h.session, line, r.id, len(sessionName))
	if !h.session.truthy() {
		return list
	}
	parent := place(&h.parent, line, r.parent, len(parentName))
	if len(r.parent) == len(parentName) {
		parent.from, parent.to = h.session.start-line.start, h.session.end-line.start
	}
	if parent.start < list[0].start {
		return append(r.list[:0], parent, list[0])
	}
	return append(list, parent)
}

// place returns an edit of the member, or one that adds it at the object's end. text is the
// value, behind what stands before one of a new member.
func place(v *value, line *scanner, text []byte, before int) edit {
	if v.kind != pyjson.Invalid {
		return edit{start: v.start - line.start, end: v.end - line.start, text: text[before:]}
	}
	if line.empty {
		text = text[len(", "):]
	}
	last := line.end - line.start - 1
	return edit{start: last, end: last, text: text}
}
