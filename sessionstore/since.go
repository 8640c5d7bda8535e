package sessionstore

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/cursortext"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// Cursor is a place between two messages of a transcript. It survives restarts, appends,
// rewrites, rewinds and repairs; see [Store.Since]. The zero Cursor is the beginning.
// Cursors can be compared: equal cursors have equal messages before them.
//
// Its text form, which String and MarshalText return, is at most 1 KiB of
// letters, digits and ".-_", and empty for the zero Cursor. It holds no content,
// only hashes of it.
type Cursor struct {
	points string // see points.cursor
}

const cursorKind cursortext.Kind = "m1"

// String returns the text form.
func (c Cursor) String() string { return cursorKind.Format([]byte(c.points)) }

// MarshalText returns the text form.
func (c Cursor) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the text form. It fails on every other text, also on the text of
// other kinds of cursors.
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

// points are the place of a cursor, and the known places before it: the newest first. The
// beginning is none of them.
type points []index.Place

// A cursor keeps its own place and as many as exactly before it. A cursor of an earlier
// version has more, up to maxPoints.
const (
	exactly    = 16
	maxPoints  = 32
	pointBytes = 17 // at least
)

// n returns the number of messages before the place.
func (p points) n() int {
	if len(p) == 0 {
		return 0
	}
	return p[0].Rows
}

// plus returns the points behind one more message. It does not change p.
func (p points) plus(at index.Place) points {
	next := make(points, 1, exactly+1)
	next[0] = at
	return append(next, p[:min(len(p), exactly)]...)
}

// cursor returns the cursor at p.
func (p points) cursor() Cursor {
	var buf [maxPoints * (pointBytes + 4)]byte
	b, above := buf[:0], 0
	for i, at := range p {
		n := at.Rows
		if i > 0 {
			n = above - n
		}
		b = binary.AppendUvarint(b, uint64(n))
		sum := xxh3.Uint128(at.Prefix).Bytes()
		b = append(b, sum[:]...)
		above = at.Rows
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
			if at = all[len(all)-1].Rows - at; at < 1 {
				return nil, errCursor
			}
		}
		sum := b[size : size+pointBytes-1]
		all = append(all, index.Place{Rows: at, Prefix: index.Prefix{Hi: binary.BigEndian.Uint64(sum), Lo: binary.BigEndian.Uint64(sum[8:])}})
		b = b[size+pointBytes-1:]
	}
	return all, nil
}

// Cursor returns the place behind the first n messages, or behind all messages when
// there are fewer. A program that shows the end of a long transcript follows it from
// there by [Store.Since].
func (v *View) Cursor(ctx context.Context, n int) (c Cursor, err error) {
	err = v.do(ctx, func(src source) error {
		messages, _ := src.counts()
		at, err := pointsAt(ctx, src, min(n, messages), exactly)
		c = at.cursor()
		return err
	})
	return c, err
}

// Begins returns how many messages are before a cursor, and reports whether the view begins
// with exactly these. Of a large transcript it reads no more than the last of them.
func (v *View) Begins(ctx context.Context, c Cursor) (n int, same bool, err error) {
	err = v.do(ctx, func(src source) error {
		at, err := readPoints([]byte(c.points))
		if n = at.n(); err == nil {
			same, err = begins(ctx, src, at)
		}
		return err
	})
	return n, same, err
}

// begins reports whether the messages before at are the first of v.
func begins(ctx context.Context, v source, at points) (bool, error) {
	n := at.n()
	if messages, _ := v.counts(); n > messages {
		return false, nil
	}
	now, err := pointsAt(ctx, v, n, 0)
	return err == nil && (n == 0 || now[0].Prefix == at[0].Prefix), err
}

// pointsAt returns the points of the place behind message n, with at most as many points
// before it as before.
func pointsAt(ctx context.Context, v source, n, before int) (found points, err error) {
	if n < 1 {
		return nil, nil
	}
	err = v.read(ctx, onward(max(1, n-before)), func(_ Message, at index.Place) bool {
		found = append(found, at)
		return at.Rows < n
	})
	slices.Reverse(found)
	return found, err
}

// Entry is an item of [Store.Since]: a message, or the notice that messages are void.
type Entry struct {
	N       int     // of the message, counted from 1; 0: there is no message
	Message Message // with N > 0
	From    int     // with N == 0: forget messages From and later, the next entries replace them
	Next    Cursor  // behind all entries so far; continue here
}

// Since yields the messages behind a cursor, each once, also when messages are appended
// in between and when the program starts anew: the zero Cursor yields all messages, and
// Next of the last Entry yields the later ones. It does not wait for more; [Store.Watch]
// reports when to ask again.
//
// When messages before the cursor have changed, because the transcript was rewritten,
// rewound or repaired, an Entry without a message comes first. Its From is the number of
// the first message that changed, if that is among the last 16 before the cursor. Else
// From is 1, since a cursor knows no places further back. A change that was undone
// between two calls is not reported.
//
// Messages are chosen and recovered as by [Store.Load]. When some cannot be read, Since
// yields the readable ones, and [ErrCorrupt] last. The error Is [ErrNotFound] when the
// session is gone. An Entry's Next is valid even if a later entry is an error.
//
// A transcript that is cached, or larger than 1 MiB, is not parsed again: the index has
// the hash of each part of a large one, see [Store.View]. If the file has not changed, or
// only appends of this library changed it, Since reads only the message at the cursor and
// the new messages. Otherwise it reads the indexed part, compares it with the hashes, and
// parses the new messages.
func (st *Store) Since(ctx context.Context, id string, c Cursor) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := &follower{yield: yield}
		var err error
		if f.at, err = readPoints([]byte(c.points)); err == nil {
			err = st.follow(ctx, id, f)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, wrap("read messages of", id, err))
		}
	}
}

// follow yields the entries behind the place of f. When a program writes into the file,
// follow begins anew with another state of the transcript.
func (st *Store) follow(ctx context.Context, id string, f *follower) error {
	for pass := 1; ; pass++ {
		v, damage := st.View(ctx, id)
		if v == nil {
			return damage
		}
		err := v.do(ctx, func(src source) error { return f.follow(ctx, src) })
		err = joinErrors(err, v.Close())
		if pass == passes || !errors.Is(err, ErrConflict) {
			return joinErrors(err, damage)
		}
	}
}

// errStopped is returned when the consumer wants no more entries.
var errStopped = errors.New("stopped")

// follower yields the entries behind a cursor.
type follower struct {
	at    points // behind the yielded entries
	yield func(Entry, error) bool
}

// follow yields the entries behind the place in v.
func (f *follower) follow(ctx context.Context, v source) error {
	if err := f.back(ctx, v); err != nil {
		return err
	}
	n := f.at.n()
	if messages, _ := v.counts(); n == messages {
		return nil
	}
	var stopped error
	err := v.read(ctx, onward(n+1), func(m Message, at index.Place) bool {
		f.at = f.at.plus(at)
		stopped = f.tell(Entry{N: at.Rows, Message: m})
		return stopped == nil
	})
	return joinErrors(stopped, err)
}

// back goes back to the last place at which the messages of v are unchanged. With an
// error, f stays at its place.
func (f *follower) back(ctx context.Context, v source) error {
	if same, err := begins(ctx, v, f.at); same || err != nil {
		return err
	}
	messages, _ := v.counts()
	now, err := pointsAt(ctx, v, min(f.at.n(), messages), exactly)
	if err != nil {
		return err
	}
	known := func(at index.Place) bool {
		return slices.ContainsFunc(f.at, func(was index.Place) bool { return was.Prefix == at.Prefix })
	}
	for len(now) > 0 && !known(now[0]) {
		now = now[1:]
	}
	if now, err = pointsAt(ctx, v, now.n(), exactly); err != nil { // some of which the cursor did not know
		return err
	}
	f.at = now
	return f.tell(Entry{From: now.n() + 1})
}

func (f *follower) tell(e Entry) error {
	e.Next = f.at.cursor()
	if !f.yield(e, nil) {
		return errStopped
	}
	return nil
}
