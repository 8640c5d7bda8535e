package sessionstore

import (
	"context"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/index"
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
