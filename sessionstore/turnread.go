package sessionstore

import (
	"context"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/index"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Turn returns the messages of a turn, counted from 1. Turns are those of
// package slice: each user message without a result of a tool begins one. The
// error Is [ErrNotFound] when there is no such turn.
//
// A transcript of more than 1 MiB is read where the turn stands and nowhere
// else, if the index in the sessions directory tells where that is. The index
// is made by the first call, which reads the transcript once, and by every call
// after another program changed it; after appends of this library, a call reads
// what was appended. Messages are chosen and recovered as by [Store.Load]; with
// [ErrCorrupt], Turn counts the turns of what could be read.
//
// Whether another program changed the transcript is told by its size, its times
// and its inode. Where the system tells neither the inode nor the time of its change,
// as on Windows, an edit that keeps the size and sets the time back goes unnoticed:
// counts, and where turns begin, are then those of before. Every part that is read
// for an answer is compared with its hash, so a message is never a mixture.
func (st *Store) Turn(ctx context.Context, id string, n int) ([]Message, error) {
	rows, err := st.turns(ctx, id, func(all int) (from, to int, err error) {
		if n < 1 || n > all {
			return 0, 0, errNoTurn(n, all)
		}
		return n, n, nil
	})
	return rows, wrap("read turn of", id, err)
}

// LastTurns returns the messages of the last n turns, or of all turns when there
// are fewer. Messages before the first turn belong to none. See [Store.Turn].
func (st *Store) LastTurns(ctx context.Context, id string, n int) ([]Message, error) {
	rows, err := st.turns(ctx, id, func(all int) (from, to int, err error) {
		if n < 1 {
			return 0, 0, fmt.Errorf("number of turns is %d, must be at least 1", n)
		}
		return max(1, all-n+1), all, nil
	})
	return rows, wrap("read turns of", id, err)
}

func errNoTurn(n, all int) error {
	return limits.Errorf(ErrNotFound, "turn %d of %d: there is no such turn", n, all)
}

// MessageAt returns message n of a transcript, counted from 1. The error Is
// [ErrNotFound] when there is no such message. See [Store.Turn].
func (st *Store) MessageAt(ctx context.Context, id string, n int) (Message, error) {
	var found Message
	err := st.converse(ctx, id, func(c conversation) (err error) {
		messages, _ := c.counts()
		if n < 1 || n > messages {
			return limits.Errorf(ErrNotFound, "message %d of %d: there is no such message", n, messages)
		}
		found, err = c.message(ctx, n)
		return err
	})
	return found, wrap("read message of", id, err)
}

// turns returns the messages of the turns that choose names when it is told how
// many there are.
func (st *Store) turns(ctx context.Context, id string, choose func(all int) (from, to int, err error)) (rows []Message, err error) {
	err = st.converse(ctx, id, func(c conversation) error {
		_, all := c.counts()
		from, to, err := choose(all)
		if err == nil {
			rows, err = c.turns(ctx, from, to)
		}
		return err
	})
	return rows, err
}

// converse runs do with the transcript of a session: by way of the index if it
// is large and sound, else with all of it in memory. The error is that of do,
// and what is damaged.
func (st *Store) converse(ctx context.Context, id string, do func(conversation) error) (err error) {
	if err := st.begin(ctx); err != nil {
		return err
	}
	defer st.done()
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, dir.Close()) }()
	s := st.cache.call(id)
	defer st.cache.end(s)
	if st.getTranscript(s, dir) == nil {
		if done, err := st.byIndex(ctx, dir, id, do); done {
			return err
		}
	}
	t := st.transcriptOf(s, dir, id, readMetadata(dir, id, st.opts.Now).md)
	if err := ctx.Err(); err != nil {
		return err
	}
	return joinErrors(do(&inMemory{rows: t.rows, of: s, cached: t.cached}), t.damage)
}

// byIndex runs do by way of the index. done is false when the transcript must be
// read as a whole, since it is small, or damaged, or changes all the time. When
// a block is not what the index says, the index is made anew.
func (st *Store) byIndex(ctx context.Context, dir *sessiondir.Dir, id string, do func(conversation) error) (done bool, err error) {
	at, err := dir.Stat(sessiondir.Transcript)
	if err != nil || at.Size < index.LargeFrom || mayBeAppending(dir) {
		return false, nil
	}
	for _, trusted := range [...]bool{true, false} {
		t, err := st.openIndexed(ctx, dir, id, trusted)
		if err != nil {
			return ctx.Err() != nil, err
		}
		c := &onDisk{openTranscript: t}
		err = joinErrors(do(c), t.file.Close())
		if !c.failed {
			return true, err
		}
		if ctx.Err() != nil {
			return true, err
		}
	}
	return false, nil
}
