package slice

import (
	"context"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ForkOptions say what becomes of a fork. The zero value forks at the last
// turn, with the events.
type ForkOptions struct {
	Turn     int    // from 1; 0: the last turn
	NewID    string // empty: a new UUID
	NoEvents bool   // the new session has no events.jsonl
	Orphans  Orphans
}

// Forked tells what a fork is.
type Forked struct {
	ID       string // of the new session
	ParentID string // the parent's session_id, or its directory's name; empty when that is no text
	Turn     int    // the last one that was taken over
	Messages int
	Events   int // that were taken over

	SkippedLines  int                    // rows of the parent that are no objects
	SkippedEvents int                    // lines of its log that are no events, or whose time cannot be read
	Recovered     *sessionstore.Recovery // a backup was read because a file of the parent is damaged
	Damage        error                  // the parent is damaged, and no backup is good: what can be read was forked
}

// Fork makes a new session of the messages of session id up to a turn. The
// session id does not change, and the new one is whole, and durable if the
// store promises that, or is not there at all.
//
// Messages keep their bytes; calls that lack a result are treated as Orphans
// says. The metadata is what the reference writes, with the parent's
// working_dir. Of the events those up to the last time in the turn are taken
// over, with the new session's id; see [eventslog.Log.SliceTo]. A turn without
// a time has no events. Memory does not grow with the log.
//
// The parent is read as by [sessionstore.Store.Load]. A damaged one is forked
// as far as it can be read, and Damage or Recovered tell so.
//
// The error Is [fs.ErrExist] when there is a session NewID already,
// [sessionstore.ErrInvalidID] when there can be none, and
// [sessionstore.ErrNotFound] without a parent. For a turn that is not there,
// and a parent without turns or transcript, the texts are the reference's.
func Fork(ctx context.Context, st *sessionstore.Store, id string, opts *ForkOptions) (Forked, error) {
	o := ForkOptions{}
	if opts != nil {
		o = *opts
	}
	if o.NewID == "" {
		o.NewID = sessionstore.NewID()
	}
	p, err := readParent(ctx, st, id)
	if err != nil {
		return Forked{}, err
	}
	f := &forking{st: st, parent: p, opts: o}
	if err := f.plan(); err != nil {
		return Forked{}, err
	}
	if err := st.Inside().Make(ctx, o.NewID, func(k *sessionstore.Work) error { return f.write(ctx, k) }); err != nil {
		return Forked{}, fmt.Errorf("fork session %q to %q: %w", id, o.NewID, err)
	}
	return f.done, nil
}

// forking is one call of Fork.
type forking struct {
	st     *sessionstore.Store
	parent *parent
	opts   ForkOptions
	turn   Turn // the last one, in the parent
	rows   []sessionstore.Message
	done   Forked
}

// plan finds out what the new session is.
func (f *forking) plan() (err error) {
	p, turn := f.parent, f.opts.Turn
	turns := slices.Collect(Turns(p.rows))
	count := len(turns)
	if turn == 0 {
		turn = count
	}
	switch {
	case count == 0 && p.damage != nil:
		return p.damage
	case count == 0:
		return textError("Cannot fork: session has no user messages")
	case turn < 1 || turn > count:
		return textError(fmt.Sprintf("Turn %d out of range. Valid range: 1-%d", turn, count))
	}
	f.turn = turns[turn-1]
	if f.rows, err = upTo(p.rows, f.turn.End, f.opts.Orphans); err != nil {
		return err
	}
	f.done = Forked{
		ID: f.opts.NewID, ParentID: textOf(p.sessionID), Turn: turn, Messages: len(f.rows),
		SkippedLines: p.skipped, Recovered: p.recovered, Damage: p.damage,
	}
	return nil
}

// write writes the files of the new session.
func (f *forking) write(ctx context.Context, k *sessionstore.Work) error {
	if err := k.SetTranscript(f.rows); err != nil {
		return err
	}
	md, err := f.metadata()
	if err != nil {
		return err
	}
	if err := k.SetMetadata(md); err != nil {
		return err
	}
	if !f.opts.NoEvents {
		if err := f.events(ctx, k); err != nil {
			return err
		}
	}
	return ctx.Err()
}
