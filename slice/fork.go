package slice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/sessioncost"
	"github.com/amplifier-go/sessionstorage/internal/store/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Fork makes a new session from the messages of session id up to a turn. The
// session id itself does not change. When Fork returns without an error the new
// session is complete, and durable if the store syncs. After an error it is
// complete or does not exist.
//
// Messages keep their bytes. Calls without a result are treated as [ForkOptions].Orphans
// says. The metadata are the same as the newest CLI writes: the new session is a chat,
// whatever the parent is labelled as, and has the parent's bundle and model, and not its
// name, but that of the options. The fork_cost_boundary holds the costs of the turns that it inherits, so that
// package cost can go on counting. Costs are read from the parent's capture in
// context-intelligence; if they are not known for certain, the boundary says why.
//
// The last member is the parent's working_dir, if it has one. The CLI leaves that out.
// Without it, calls on the new session would not find its ownership lock unless
// [sessionstore.Options].Workspace is given, lists would not show its directory, and
// programs would not know where to resume it. No reader loses by it: the new session is in
// the project of its parent.
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
// The parent is read as [sessionstore.Store.Load] reads it. A damaged parent is forked as
// far as it can be read; Damage or Recovered is set then. With [ForkOptions].Damaged the
// messages are the complete ones of that file; the metadata and the events are still the
// session's.
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
	all := slices.Collect(Turns(p.rows))
	count := len(all)
	turn := count
	if f.opts.Turn != nil {
		turn = *f.opts.Turn
	}
	switch {
	case count == 0 && p.damage != nil:
		return p.damage
	case count == 0:
		return limits.Reference(nil, "Cannot fork: session has no user messages")
	case turn < 1 || turn > count:
		return limits.Reference(nil, fmt.Sprintf("Turn %d out of range. Valid range: 1-%d", turn, count))
	}
	f.turn = all[turn-1]
	if f.rows, err = upTo(p.rows, f.turn.End, f.opts.Orphans); err != nil {
		return err
	}
	f.done = Forked{
		ID: f.opts.NewID, ParentID: p.id, Turn: turn, Messages: len(f.rows),
		SkippedLines: p.skipped, Recovered: p.recovered, Damage: p.damage,
	}
	if f.opts.Older {
		f.done.ParentID = turns.TextOf(p.sessionID)
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
	if f.opts.Name != "" {
		if _, err := tx.SetName(sessionstore.Naming{Name: f.opts.Name, Source: "manual"}); err != nil {
			return err
		}
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

// fields are metadata that are made member by member. It keeps the first error.
type fields struct {
	md  sessionstore.Metadata
	err error
}

func (f *fields) set(name string, v any) {
	if f.err == nil {
		f.err = f.md.Set(name, v)
	}
}

// copy sets a member to its value in other metadata. If they do not have the member, copy
// sets null, or nothing where it is optional.
func (f *fields) copy(from sessionstore.Metadata, name string, optional bool) {
	raw, ok := from.Lookup(name)
	switch {
	case ok:
		f.set(name, json.RawMessage(raw))
	case !optional:
		f.set(name, nil)
	}
}

// forkMetadata returns the metadata of a fork with those messages, as the newest
// CLI writes them, and with the parent's working_dir. cost is the boundary.
func (p *parent) forkMetadata(fork Forked, rows []sessionstore.Message, cost []byte, at time.Time) (sessionstore.Metadata, error) {
	now := pytime.Format(at.UTC().Truncate(time.Microsecond))
	f := &fields{}
	f.set("session_id", fork.ID)
	if cost == nil {
		f.set("parent_id", json.RawMessage(p.sessionID))
	} else {
		f.set("parent_id", p.id)
	}
	f.set("forked_from_turn", fork.Turn)
	if cost != nil {
		f.set(sessioncost.Member, json.RawMessage(cost))
	}
	f.set("forked_at", now)
	if cost != nil {
		f.set("session_visibility", "chat")
	}
	f.set("created", now)
	f.set("turn_count", CountTurns(rows))
	f.copy(p.md, "bundle", false)
	f.copy(p.md, "model", false)
	f.copy(p.md, "working_dir", true)
	if f.err != nil {
		return sessionstore.Metadata{}, fmt.Errorf("copy metadata: %w", f.err)
	}
	return f.md, nil
}

// parent holds the data of a session that is forked.
type parent struct {
	id        string
	sessionID []byte // JSON: its session_id, or the directory's name
	rows      []sessionstore.Message
	md        sessionstore.Metadata
	skipped   int // rows that are no objects
	recovered *sessionstore.Recovery
	damage    error
}

// readParent reads a session as far as it can be read. If damaged is not empty,
// the messages are read from the file of that name.
func readParent(ctx context.Context, st *sessionstore.Store, id, damaged string) (*parent, error) {
	s, err := st.Load(ctx, id)
	if s == nil {
		return nil, err
	}
	if damaged != "" {
		rows, err := core.Of(st).Damaged(ctx, id, damaged)
		if err != nil {
			return nil, fmt.Errorf("fork session %q: read %q: %w", limits.ID(id), limits.Path(damaged), err)
		}
		s.Messages = rows
	}
	if len(s.Messages) == 0 && damaged == "" && err == nil {
		switch err := hasTranscript(ctx, st, id); {
		case errors.Is(err, errNoTranscript):
			return nil, noTranscript(st, id, ". This doesn't appear to be a valid session directory.")
		case err != nil:
			return nil, err
		}
	}
	p := &parent{id: id, md: s.Metadata, recovered: s.Recovered, damage: err}
	p.rows = make([]sessionstore.Message, 0, len(s.Messages))
	for _, m := range s.Messages {
		if !isObject(m) {
			p.skipped++
			continue
		}
		p.rows = append(p.rows, m)
	}
	sessionID, ok := s.Metadata.Lookup("session_id")
	if !ok {
		sessionID = pyjson.Quote(id)
	}
	p.sessionID = sessionID
	return p, nil
}

// costOf returns the boundary of a fork that has the messages child.
func (p *parent) costOf(ctx context.Context, st *sessionstore.Store, child []sessionstore.Message) ([]byte, error) {
	from := sessioncost.Parent{ID: p.id, Rows: make([]sessioncost.Row, len(p.rows))}
	for i, m := range p.rows {
		from.Rows[i] = costRow(m)
	}
	_, from.Forked = p.md.Lookup("forked_from_turn")
	from.Boundary, _ = p.md.Lookup(sessioncost.Member)
	rows := make([]sessioncost.Row, len(child))
	for i, m := range child {
		if i < len(p.rows) && m == p.rows[i] { // nearly all
			rows[i] = from.Rows[i]
		} else {
			rows[i] = costRow(m)
		}
	}
	return sessioncost.Build(from, rows, sessioncost.CountTurns(rows), func() (*sessioncost.Events, error) {
		return sessioncost.Open(ctx, sessioncost.LocateHere(filepath.Join(st.Dir(), p.id)).Capture, p.id)
	})
}

// isKnown reports whether the boundary is verified, and its problems.
func isKnown(boundary []byte) (known bool, problems []string) {
	b := sessioncost.Verify(boundary)
	if b.Verified {
		return true, nil
	}
	return false, b.Problems[1:] // the first one says that there are others
}

func costRow(m sessionstore.Message) sessioncost.Row {
	return sessioncost.Row{JSON: core.Row(m), Role: m.Role()}
}

// ForkOptions control [Fork]. The zero value forks at the last turn, as the newest CLI
// does, without the events, and completes calls without a result.
type ForkOptions struct {
	Turn    *int    // from 1; nil: the last turn
	NewID   string  // empty: a new UUID
	Events  bool    // copy the events up to the turn
	Older   bool    // write the metadata of the tools before September 2026, see [Fork]
	Damaged string  // name of a damaged file, see [sessionstore.SalvageFork]: its messages are forked instead of the transcript's
	Orphans Orphans // the treatment of calls that have no result
	Name    string  // of the new session, as a person gives it; empty: none
}

// Forked describes the session that [Fork] made.
type Forked struct {
	ID       string // of the new session
	ParentID string // of the parent's directory; with Older its session_id, if it has one, and empty if that is no string
	Turn     int    // the last turn that was copied
	Messages int    // number of messages of the new session
	Events   int    // number of events that were copied

	// CostKnown reports whether the new session knows the costs of the turns that it
	// inherits. CostProblems are the reasons why it does not, in the words of the newest
	// tools; it is empty with Older.
	CostKnown    bool
	CostProblems []string

	SkippedLines  int                    // rows of the parent that are no objects
	SkippedEvents int                    // lines of its log that are no events, or whose time cannot be read
	Recovered     *sessionstore.Recovery // not nil: a file of the parent is damaged, and its backup was read instead
	Damage        error                  // not nil: the parent is damaged and no backup is good; the readable part was forked
}
