package sessionstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/cursortext"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// Part is a run of messages of a transcript.
type Part struct {
	First    int       // number of the first message, counted from 1
	Turn     int       // of the first message; 0: it stands before the first turn
	Messages []Message // those that were asked for, as far as there are any
	Total    int       // how many messages the transcript has
	Turns    int       // how many turns the transcript has
}

// Part returns n messages of a transcript, or fewer at its end, from message
// first on, counted from 1. With n 0 it tells what the transcript has and reads
// no message. See [Store.Turn].
func (st *Store) Part(ctx context.Context, id string, first, n int) (p Part, err error) {
	err = st.converse(ctx, id, func(c conversation) error {
		if first < 1 || n < 0 {
			return fmt.Errorf("part of %d messages from message %d is not possible", n, first)
		}
		p, err = readPart(ctx, c, first, n)
		return err
	})
	return p, wrap("read part of", id, err)
}

// PartFromTurn is [Store.Part] from the beginning of a turn on, counted from 1.
// The error Is [ErrNotFound] when there is no such turn.
func (st *Store) PartFromTurn(ctx context.Context, id string, turn, n int) (p Part, err error) {
	err = st.converse(ctx, id, func(c conversation) error {
		if _, all := c.counts(); turn < 1 || turn > all {
			return errNoTurn(turn, all)
		}
		first, err := c.start(ctx, turn)
		if err != nil {
			return err
		}
		p, err = readPart(ctx, c, first, n)
		return err
	})
	return p, wrap("read part of", id, err)
}

// readPart reads what is there of n messages from message first on.
func readPart(ctx context.Context, c conversation, first, n int) (p Part, err error) {
	p.First = first
	p.Total, p.Turns = c.counts()
	if n = min(n, p.Total-first+1); n > 0 {
		p.Messages, p.Turn, err = c.run(ctx, first, n)
	}
	return p, err
}

// CursorAt returns the place behind the first n messages, or behind all messages
// when there are fewer. A program that shows the end of a long transcript follows
// it from there by [Store.Since]. It reads some places of the transcript and not
// the rest; see [Store.Turn].
func (st *Store) CursorAt(ctx context.Context, id string, n int) (at Cursor, err error) {
	err = st.converse(ctx, id, func(c conversation) error {
		found, err := pointsAt(ctx, c, min(n, c.messages()))
		at = found.cursor()
		return err
	})
	return at, wrap("read place in", id, err)
}

// pointsAt returns the points of the place behind message n.
func pointsAt(ctx context.Context, c conversation, n int) (at points, err error) {
	if n < 1 {
		return nil, nil
	}
	err = c.from(ctx, max(1, n-exactly), func(_ Message, prefix index.Prefix) bool {
		at = append(at, point{max(1, n-exactly) + len(at), prefix})
		return at[len(at)-1].n < n
	})
	slices.Reverse(at)
	return at, err
}

func (c *inMemory) run(_ context.Context, first, n int) (found []Message, turn int, err error) {
	for i := range first {
		if c.begins(i) {
			turn++
		}
	}
	return slices.Clone(c.rows[first-1 : first-1+n]), turn, nil
}

func (c *inMemory) start(_ context.Context, turn int) (int, error) {
	for i := range c.rows {
		if c.begins(i) {
			turn--
		}
		if turn == 0 {
			return i + 1, nil
		}
	}
	return 0, ErrNotFound
}

func (c *onDisk) run(ctx context.Context, first, n int) (found []Message, turn int, err error) {
	err = c.read(ctx, c.rows.Row(first), noTurn, func(m Message, number, of int) bool {
		if number == first {
			turn = of
		}
		if number >= first {
			found = append(found, c.kept(m))
		}
		return number < first+n-1
	})
	if err == nil && len(found) != n {
		err = errIndexCounts
	}
	c.failed = err != nil
	return found, turn, err
}

func (c *onDisk) start(ctx context.Context, turn int) (first int, err error) {
	err = c.read(ctx, c.rows.Turn(turn), noTurn, func(_ Message, number, of int) bool {
		if of == turn {
			first = number
		}
		return first == 0
	})
	if err == nil && first == 0 {
		err = errIndexCounts
	}
	c.failed = err != nil
	return first, err
}

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

// Entry is what [Store.Since] tells: a message, or that messages are void.
type Entry struct {
	N       int     // of the message, counted from 1; 0: there is no message
	Message Message // with N > 0
	From    int     // with N == 0: forget messages From and later, what follows replaces them
	Next    Cursor  // behind all that was told so far; continue here
}

// Since yields the messages behind a cursor, each once, also when messages are
// appended in between and when the program starts anew: the zero Cursor yields
// all of them, and Next of the last Entry what comes after it. It does not wait
// for more; [Store.Watch] tells when to ask again.
//
// When messages before the cursor have changed, since the transcript was
// rewritten, rewound or repaired, an Entry without a message comes first. Its
// From is the first message that changed, if that is one of the last 16 before
// the cursor. Else From is 1, since a cursor knows no places further back. What
// changes and changes back is not told.
//
// Messages are chosen and recovered as by [Store.Load]. When some cannot be
// read, Since yields those that can, and [ErrCorrupt] last. The error Is
// [ErrNotFound] when the session is gone. An Entry's Next is good even if a
// later one is an error.
//
// A transcript that is cached, or larger than 1 MiB, is not parsed again: the
// index knows the hash of each part of a large one, see [Store.Turn]. If the
// file has not changed, or only appends of this library changed it, Since reads
// only what stands at the cursor and what is new. Otherwise it reads the part
// that the index knows, compares that with the hashes, and parses what is new.
func (st *Store) Since(ctx context.Context, id string, c Cursor) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f := &follower{yield: yield}
		var err error
		if f.at, err = readPoints([]byte(c.points)); err == nil {
			err = st.converse(ctx, id, func(c conversation) error { return f.follow(ctx, c) })
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, wrap("read messages of", id, err))
		}
	}
}

// errStopped tells that nobody wants more.
var errStopped = errors.New("stopped")

// follower tells what is behind a cursor.
type follower struct {
	at    points // behind what was told
	yield func(Entry, error) bool
}

// follow tells what is behind the place in c.
func (f *follower) follow(ctx context.Context, c conversation) error {
	if err := f.back(ctx, c); err != nil {
		return err
	}
	var told error
	err := c.from(ctx, f.at.n()+1, func(m Message, prefix index.Prefix) bool {
		told = f.message(m, prefix)
		return told == nil
	})
	return joinErrors(told, err)
}

// back goes back to the last point at which c is what it was. With an error, f
// is where it was.
func (f *follower) back(ctx context.Context, c conversation) error {
	messages, n := c.messages(), 0
	for _, p := range f.at {
		if p.n > messages {
			continue
		}
		now, err := c.prefix(ctx, p.n)
		if err != nil {
			return err
		}
		if now == p.prefix {
			n = p.n
			break
		}
	}
	if n == f.at.n() {
		return nil
	}
	at, err := pointsAt(ctx, c, n) // some of which the cursor no longer knew
	if err != nil {
		return err
	}
	f.at = at
	return f.tell(Entry{From: n + 1})
}

// message tells the next message; prefix is that up to it.
func (f *follower) message(m Message, prefix index.Prefix) error {
	f.at = f.at.plus(prefix)
	return f.tell(Entry{N: f.at.n(), Message: m})
}

func (f *follower) tell(e Entry) error {
	e.Next = f.at.cursor()
	if !f.yield(e, nil) {
		return errStopped
	}
	return nil
}
