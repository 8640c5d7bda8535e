package sessionstore

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

// Part is a run of messages of a transcript.
type Part struct {
	First    int       // number of the first message, counted from 1
	Turn     int       // of the first message; 0: it comes before the first turn
	Messages []Message // those that were asked for, as far as there are any
	Total    int       // how many messages the transcript has
	Turns    int       // how many turns the transcript has
}

// readPart reads n messages of a span, as far as there are any.
func readPart(ctx context.Context, v source, s span, n int) (p Part, err error) {
	p.First = s.row
	p.Total, p.Turns = v.counts()
	if n < 1 || s.row > p.Total || s.turn > p.Turns {
		return p, nil
	}
	err = v.read(ctx, s, func(m Message, at index.Place) bool {
		if p.Messages == nil {
			p.First, p.Turn = at.Rows, at.Turns
		}
		p.Messages = append(p.Messages, m)
		return len(p.Messages) < n
	})
	p.Messages = slices.Clip(p.Messages)
	return p, err
}

// part reads n messages of the span that choose chooses by what there is.
func (st *Store) part(ctx context.Context, op, id string, n int, choose func(messages, turns int) (span, error)) (p Part, err error) {
	err = st.withSource(ctx, id, func(v source) error {
		s, err := choose(v.counts())
		if err == nil {
			p, err = readPart(ctx, v, s, n)
		}
		return err
	})
	return p, wrap(op, id, err)
}

// Turn returns the messages of a turn, counted from 1. Turns are those of
// package slice: each user message without a result of a tool begins one. The
// error Is [ErrNotFound] when there is no such turn.
//
// A transcript of more than 1 MiB is read where the turn is and nowhere
// else, if the index in the sessions directory holds where that is. The index
// is made by the first call, which reads the transcript once, and by every call
// after another program changed it; after appends of this library, a call reads
// what was appended. Messages are chosen and recovered as by [Store.Load]; with
// [ErrCorrupt], Turn counts the turns of what could be read.
//
// Whether another program changed the transcript shows in its size, its times
// and its inode. Where the system tells neither the inode nor the time of its change,
// as on Windows, an edit that keeps the size and sets the time back goes unnoticed:
// counts, and where turns begin, are then those of before. Every part that is read
// for an answer is compared with its hash, so a message is never a mixture.
func (st *Store) Turn(ctx context.Context, id string, n int) ([]Message, error) {
	p, err := st.part(ctx, "read turn of", id, math.MaxInt, func(_, turns int) (span, error) {
		return span{turn: n, last: n}, checkTurn(n, turns)
	})
	return p.Messages, err
}

// LastTurns returns the messages of the last n turns, or of all turns when there
// are fewer. Messages before the first turn belong to none. See [Store.Turn].
func (st *Store) LastTurns(ctx context.Context, id string, n int) ([]Message, error) {
	p, err := st.part(ctx, "read turns of", id, math.MaxInt, func(_, turns int) (s span, err error) {
		if n < 1 {
			err = fmt.Errorf("number of turns is %d, must be at least 1", n)
		}
		return span{turn: max(1, turns-n+1), last: turns}, err
	})
	return p.Messages, err
}

func checkTurn(n, turns int) error {
	if n < 1 || n > turns {
		return limits.Errorf(ErrNotFound, "turn %d of %d: there is no such turn", n, turns)
	}
	return nil
}

// MessageAt returns message n of a transcript, counted from 1. The error Is
// [ErrNotFound] when there is no such message. See [Store.Turn].
func (st *Store) MessageAt(ctx context.Context, id string, n int) (m Message, err error) {
	p, err := st.part(ctx, "read message of", id, 1, func(messages, _ int) (s span, err error) {
		if n < 1 || n > messages {
			err = limits.Errorf(ErrNotFound, "message %d of %d: there is no such message", n, messages)
		}
		return onward(n), err
	})
	if len(p.Messages) > 0 {
		m = p.Messages[0]
	}
	return m, err
}

// Part returns n messages of a transcript, or fewer at its end, from message
// first on, counted from 1. With n 0 it returns what the transcript has and reads
// no message. See [Store.Turn].
func (st *Store) Part(ctx context.Context, id string, first, n int) (Part, error) {
	return st.part(ctx, "read part of", id, n, func(_, _ int) (s span, err error) {
		if first < 1 || n < 0 {
			err = fmt.Errorf("part of %d messages from message %d is not possible", n, first)
		}
		return onward(first), err
	})
}

// PartFromTurn is [Store.Part] from the beginning of a turn on, counted from 1.
// The error Is [ErrNotFound] when there is no such turn.
func (st *Store) PartFromTurn(ctx context.Context, id string, turn, n int) (Part, error) {
	p, err := st.part(ctx, "read part of", id, max(n, 1), func(_, turns int) (span, error) {
		return span{turn: turn, last: turns}, checkTurn(turn, turns)
	})
	if n < 1 {
		p.Messages, p.Turn = nil, 0
	}
	return p, err
}
