package eventslog

import (
	"encoding/binary"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/format/cursortext"
)

// ErrRewritten is returned when the log is not the one that a head was read from.
var ErrRewritten = errors.New("log was rewritten")

// Cursor is a place in the log that survives restarts, truncation and
// replacement. The zero Cursor is the beginning.
//
// Its text form, which String and MarshalText return, is at most 60 letters,
// digits and ".-_", and empty for the zero Cursor. It holds no content.
type Cursor struct {
	Offset int64
	Line   int      // lines before Offset; negative: not known
	Sum    [16]byte // of the bytes before Offset, up to 4 KiB, as they were last seen
}

const cursorKind cursortext.Kind = "e1"

// String returns the text form.
func (c Cursor) String() string { return cursorKind.Format(c.body()) }

// MarshalText returns the text form.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the text form. It fails on every other text, also on the text of
// another kind of cursor.
func (c *Cursor) UnmarshalText(text []byte) error {
	body, err := cursorKind.Parse(string(text))
	if err != nil {
		return err
	}
	var read Cursor
	if body != nil {
		offset, n := binary.Varint(body)
		line, k := binary.Varint(body[max(n, 0):])
		if n <= 0 || k <= 0 || int64(int(line)) != line || len(body) != n+k+len(read.Sum) {
			return errCursor
		}
		read = Cursor{offset, int(line), [16]byte(body[n+k:])}
		if string(read.body()) != string(body) {
			return errCursor
		}
	}
	*c = read
	return nil
}

var errCursor = errors.New("parse cursor: it holds what no cursor of events does")

// body returns the bytes of the text form.
func (c Cursor) body() []byte {
	if c == (Cursor{}) {
		return nil
	}
	b := binary.AppendVarint(binary.AppendVarint(nil, c.Offset), int64(c.Line))
	return append(b, c.Sum[:]...)
}
