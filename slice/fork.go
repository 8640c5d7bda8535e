package slice

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Fork makes a new session from the messages of session id up to a turn. The
// session id itself does not change. When Fork returns without an error the new
// session is complete, and durable if the store syncs. After an error it is
// complete or does not exist.
//
// Messages keep their bytes. Calls without a result are treated as
// [ForkOptions].Orphans says. The metadata are those that the newest CLI writes:
// the new session is a chat, whatever the parent is labelled as, and has the
// parent's bundle and model, and not its name. The fork_cost_boundary tells what
// the turns that it inherits have cost, so that package cost can go
// on counting. Costs are read from the parent's capture in context-intelligence;
// if they are not known for certain, the boundary says why.
//
// The last member is the parent's working_dir, if it has one. The CLI leaves that
// out. Without it, calls on the new session would not find its ownership lock
// unless [sessionstore.Options].Workspace is given, lists would not show its
// directory, and programs would not know where to resume it. No reader loses by
// it: the new session stands in the project of its parent.
//
// With [ForkOptions].Events the events up to the last time in the turn are
// copied and get the new session's id, see [eventslog.Log.SliceTo]. If the turn
// has no time, no events are copied. Memory does not grow with the log, but for
// some 100 bytes for each prompt and response in the capture.
//
// With [ForkOptions].Older the metadata have no boundary and no label, and name as
// the parent its session_id instead of its directory, as the tools before
// September 2026 wrote them.
//
// The parent is read as [sessionstore.Store.Load] reads it. A damaged parent is
// forked as far as it can be read; Damage or Recovered tell so. With
// [ForkOptions].Damaged the messages are the complete ones of that file; the
// metadata and the events are still the session's.
//
// The error Is [fs.ErrExist] when a session NewID exists already,
// [sessionstore.ErrInvalidID] when NewID cannot be the id of a session,
// [sessionstore.ErrNotFound] when there is no session id, and [fs.ErrNotExist]
// when the session has no damaged file of that name. If there is no such turn,
// or the parent has no turns or no transcript, the text is the reference's.
func Fork(ctx context.Context, st *sessionstore.Store, id string, opts *ForkOptions) (Forked, error) {
	o := ForkOptions{}
	if opts != nil {
		o = *opts
	}
	if o.NewID == "" {
		o.NewID = sessionstore.NewID()
	}
	p, err := readParent(ctx, st, id, o.Damaged)
	if err != nil {
		return Forked{}, err
	}
	f := &forking{st: st, parent: p, opts: o}
	if err := f.plan(); err != nil {
		return Forked{}, err
	}
	if !o.Older {
		if f.cost, err = p.costOf(ctx, st, f.rows); err != nil {
			return Forked{}, fmt.Errorf("fork session %q: %w", limits.ID(id), err)
		}
		f.done.CostKnown, f.done.CostProblems = isKnown(f.cost)
	}
	if err := core.Of(st).Make(ctx, o.NewID, func(tx core.Tx) error { return f.write(ctx, tx) }); err != nil {
		return Forked{}, fmt.Errorf("fork session %q to %q: %w", limits.ID(id), limits.ID(o.NewID), err)
	}
	return f.done, nil
}

// forking is one call of Fork.
type forking struct {
	st     *sessionstore.Store
	parent *parent
	opts   ForkOptions
	turn   Turn                   // the last turn that is copied
	rows   []sessionstore.Message // of the new session
	cost   []byte                 // its fork_cost_boundary, nil with Older
	done   Forked
}

// plan finds the messages of the new session. It writes nothing.
func (f *forking) plan() (err error) {
	p := f.parent
	turns := slices.Collect(Turns(p.rows))
	count := len(turns)
	turn := count
	if f.opts.Turn != nil {
		turn = *f.opts.Turn
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
		ID: f.opts.NewID, ParentID: p.id, Turn: turn, Messages: len(f.rows),
		SkippedLines: p.skipped, Recovered: p.recovered, Damage: p.damage,
	}
	if f.opts.Older {
		f.done.ParentID = textOf(p.sessionID)
	}
	return nil
}

// write writes the files of the new session.
func (f *forking) write(ctx context.Context, tx core.Tx) error {
	if err := tx.SetTranscript(f.rows); err != nil {
		return err
	}
	md, err := f.parent.forkMetadata(f.done, f.rows, f.cost, core.Of(f.st).Now())
	if err != nil {
		return err
	}
	if err := tx.SetMetadata(md); err != nil {
		return err
	}
	if f.opts.Events {
		if err := f.writeEvents(ctx, tx); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// writeEvents writes the log of the new session: the parent's events up to the
// last time of the last turn, or none if the turn has no time.
func (f *forking) writeEvents(ctx context.Context, tx core.Tx) error {
	until, timed := lastTime(f.parent.rows[f.turn.Start:f.turn.End])
	write := func(w io.Writer) error {
		if !timed {
			return nil
		}
		cut, err := cutEvents(ctx, f.st, f.parent.id, w, until, newIDs{f.done.ID, f.done.ParentID})
		f.done.Events, f.done.SkippedEvents = cut.Events, cut.Skipped
		return err
	}
	store := core.Of(f.st)
	if err := tx.Dir().Replace(eventsFile, store.Syncs(), store.Now(), write); err != nil {
		return err
	}
	tx.Renamed(eventsFile)
	return nil
}
