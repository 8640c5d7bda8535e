package adk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/adk/v2/session"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// kept is the state of a session after its first messages, as an event that was appended
// later has it beside it.
type kept struct {
	Cursor sessionstore.Cursor `json:"cursor"` // after these messages
	State  string              `json:"state"`  // a string, as in metadata
	Sum    string              `json:"sum"`    // of State: a tool may have changed it

	n  int  // the number of these messages
	ok bool // they are the first of the session, and no tool changed State
}

const keptField = "adk_state"

// sumOf returns a hash of a state.
func sumOf(state string) string {
	sum := sha256.Sum256([]byte(state))
	return hex.EncodeToString(sum[:8])
}

// sound reports whether no tool changed State.
func (k *kept) sound() bool { return k.Sum == sumOf(k.State) }

// atCreation returns the state beside the first message, if that is the state at creation. A
// fork has it there alone.
func atCreation(rows []row) string {
	if len(rows) == 0 || rows[0].before == nil || rows[0].before.Cursor != (sessionstore.Cursor{}) || !rows[0].before.sound() {
		return ""
	}
	return rows[0].before.State
}

// since is what was stored since the last state that is kept.
type since struct{ messages, bytes, state int }

// spacing is the number of messages after which the state is kept anew. With eight, the ten
// last events have one beside them, and the message at its cursor is one of them.
const spacing = 8

// due reports whether the state is to be kept with the next message: not before so much was
// stored as a state takes.
func (s since) due() bool { return s.messages >= spacing && s.bytes >= s.state }

// plus returns s after one more message, with a state beside it or without.
func (s since) plus(before *kept, size int) since {
	if before != nil {
		s = since{state: len(before.State)}
	}
	s.messages++
	s.bytes += size
	return s
}

// end is the end of a session.
type end struct {
	events  []*session.Event // that were asked for
	state   map[string]any   // after all events
	updated time.Time
	since   since
}

// row is what is read of a message.
type row struct {
	event  *session.Event
	before *kept // nil: no state is beside it
	size   int   // of the event in bytes
}

// read reads a session from its end on: until there are the events that r asks for, and a
// state from which the later events lead to the last.
func read(ctx context.Context, st *sessionstore.Store, v *sessionstore.View, id string, r *session.GetRequest) (e end, err error) {
	first, n := v.Len()+1, v.Len()
	if r.NumRecentEvents > 0 || !r.After.IsZero() {
		n = max(spacing, r.NumRecentEvents)
	}
	var rows []row // from message first on
	var from *kept // nil: not found yet
	for more := true; more && first > 1; n = len(rows) {
		n = min(n, first-1)
		first -= n
		some, err := rowsOf(ctx, v, first, n)
		if err == nil && from == nil {
			from, err = lastKept(ctx, v, some, first)
		}
		if err != nil {
			return e, fmt.Errorf("read session %q: %w", id, err)
		}
		rows = slices.Concat(some, rows)
		more = from == nil || !from.ok || from.n < first-1 || !enough(rows, some, r)
	}
	created := time.Time{}
	if from == nil || !from.ok {
		md, err := st.Metadata(ctx, id)
		if err != nil {
			return e, err
		}
		from = &kept{State: cmp.Or(md.Text(keptField), atCreation(rows))}
		created, _ = md.Created()
	}
	e = endOf(rows, from, from.n-(first-1))
	e.updated = cmp.Or(e.updated, created)
	e.events = asked(e.events, r)
	return e, nil
}

// rowsOf returns n messages from message first on.
func rowsOf(ctx context.Context, v *sessionstore.View, first, n int) ([]row, error) {
	messages, err := v.Range(ctx, first, n)
	rows := make([]row, len(messages))
	for i, m := range messages {
		e, failed := eventOf(m)
		if failed != nil {
			return nil, fmt.Errorf("message %d: %w", first+i, failed)
		}
		raw, _ := m.Lookup(eventField)
		rows[i] = row{event: e, size: len(raw)}
		if raw, ok := m.Lookup(keptField); ok {
			rows[i].before = &kept{}
			if json.Unmarshal(raw, rows[i].before) != nil {
				rows[i].before = &kept{} // whose Sum is of no state
			}
		}
	}
	return rows, err
}

// lastKept returns the last state that is beside one of rows, which begin with message first,
// and whether it counts; nil if no state is beside them.
func lastKept(ctx context.Context, v *sessionstore.View, rows []row, first int) (*kept, error) {
	for i, r := range slices.Backward(rows) {
		if r.before == nil {
			continue
		}
		n, same, err := v.Begins(ctx, r.before.Cursor)
		r.before.n, r.before.ok = n, same && n < first+i && r.before.sound()
		return r.before, err
	}
	return nil, nil
}

// enough reports whether rows have all events that r asks for. The first of rows are some,
// which were read last. Clocks of programs differ a little, so one event before After does not
// end the search.
func enough(rows, some []row, r *session.GetRequest) bool {
	if r.NumRecentEvents > 0 && len(eventsOf(rows)) >= r.NumRecentEvents {
		return true
	}
	oldest := some[:min(spacing, len(some))]
	return !r.After.IsZero() && !slices.ContainsFunc(oldest, func(s row) bool { return !s.event.Timestamp.Before(r.After) })
}

// eventsOf returns the events of rows, each once.
func eventsOf(rows []row) []*session.Event {
	var events []*session.Event
	for _, r := range rows {
		events = plus(events, r.event)
	}
	return events
}

// asked returns the events that r asks for: those of the last NumRecentEvents that are not
// before After.
func asked(events []*session.Event, r *session.GetRequest) []*session.Event {
	if r.NumRecentEvents > 0 {
		events = events[max(0, len(events)-r.NumRecentEvents):]
	}
	return slices.DeleteFunc(events, func(e *session.Event) bool { return e.Timestamp.Before(r.After) })
}

// endOf returns what rows say, of which the first are in the state from.
func endOf(rows []row, from *kept, first int) end {
	e := end{events: eventsOf(rows), state: stateIn(from.State), since: since{state: len(from.State)}}
	for _, r := range rows[max(0, first):] {
		maps.Copy(e.state, r.event.Actions.StateDelta)
		e.since.messages++
		e.since.bytes += r.size
	}
	if len(rows) > 0 {
		e.updated = rows[len(rows)-1].event.Timestamp
	} else if len(e.state) > 0 {
		e.since = since{messages: spacing} // so that a fork has the state at creation
	}
	return e
}

// keep returns the state of a session as it is stored now, to be kept beside the next event.
func keep(ctx context.Context, st *sessionstore.Store, id string) (k *kept, err error) {
	v, err := view(ctx, st, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	e, err := read(ctx, st, v, id, &session.GetRequest{NumRecentEvents: 1})
	if err != nil {
		return nil, err
	}
	at, err := v.Cursor(ctx, v.Len())
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(e.state)
	return &kept{Cursor: at, State: string(raw), Sum: sumOf(string(raw))}, err
}

// view opens a sound session.
func view(ctx context.Context, st *sessionstore.Store, id string) (*sessionstore.View, error) {
	v, err := st.View(ctx, id)
	if err != nil && v != nil {
		err = errors.Join(err, v.Close())
	}
	return v, err
}
