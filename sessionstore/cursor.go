package sessionstore

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/cursortext"
	"github.com/amplifier-go/sessionstorage/internal/index"
)

// Cursor is a place between two messages of a transcript. It survives restarts,
// appends, rewrites, rewinds and repairs; see [Store.Since]. The zero Cursor is
// the beginning. Cursors can be compared: equal ones are of equal messages.
//
// Its text form, which String and MarshalText return, is at most 1 KiB of
// letters, digits and ".-_", and empty for the zero Cursor. It holds no content,
// only hashes of it.
type Cursor struct {
	points string // see appendTo
}

const cursorKind cursortext.Kind = "m1"

// String returns the text form.
func (c Cursor) String() string { return cursorKind.Format([]byte(c.points)) }

// MarshalText returns the text form.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the text form. It fails on every other text, that of other
// kinds of cursors too.
func (c *Cursor) UnmarshalText(text []byte) error {
	body, err := cursorKind.Parse(string(text))
	if err != nil {
		return err
	}
	if _, err := readPoints(body); err != nil {
		return err
	}
	c.points = string(body)
	return nil
}

// point is the place behind the first n messages.
type point struct {
	n      int
	prefix index.Prefix // of these messages
}

// points are the place of a cursor, and places before it that its reader passed:
// the newest first. The beginning is none of them.
type points []point

// A cursor keeps its own point and exactly before it. One that an earlier version
// wrote has some further back, and maxPoints at most.
const (
	exactly    = 16
	maxPoints  = 32
	pointBytes = 17 // at least
)

// n is how many messages are before the place.
func (p points) n() int {
	if len(p) == 0 {
		return 0
	}
	return p[0].n
}

// plus returns the points behind one more message. It does not change p.
func (p points) plus(prefix index.Prefix) points {
	next := make(points, 1, exactly+1)
	next[0] = point{p.n() + 1, prefix}
	return append(next, p[:min(len(p), exactly)]...)
}

// cursor returns the cursor at p.
func (p points) cursor() Cursor {
	var buf [maxPoints * (pointBytes + 4)]byte
	b, above := buf[:0], 0
	for i, one := range p {
		n := one.n
		if i > 0 {
			n = above - one.n
		}
		b = binary.AppendUvarint(b, uint64(n))
		sum := xxh3.Uint128(one.prefix).Bytes()
		b = append(b, sum[:]...)
		above = one.n
	}
	return Cursor{string(b)}
}

var errCursor = errors.New("parse cursor: it holds what no cursor of messages does")

// readPoints returns the points of a cursor.
func readPoints(b []byte) (points, error) {
	var all points
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || size > 1 && b[size-1] == 0 || n < 1 || n > math.MaxInt || len(b) < size+pointBytes-1 || len(all) == maxPoints {
			return nil, errCursor
		}
		at := int(n)
		if len(all) > 0 {
			if at = all[len(all)-1].n - at; at < 1 {
				return nil, errCursor
			}
		}
		sum := b[size : size+pointBytes-1]
		all = append(all, point{at, index.Prefix{Hi: binary.BigEndian.Uint64(sum), Lo: binary.BigEndian.Uint64(sum[8:])}})
		b = b[size+pointBytes-1:]
	}
	return all, nil
}
