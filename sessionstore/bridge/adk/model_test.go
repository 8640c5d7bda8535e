package adk

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/session"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// changer changes a session, and compares what the service says of it with all its events, of
// which adk-go's service in memory says which are asked for.
type changer struct {
	t    *testing.T
	r    *rand.Rand
	s    *Service
	st   *sessionstore.Store
	id   string
	ids  int
	at   time.Time
	held session.Session // as Get returned it some steps before
}

func (m *changer) get(r session.GetRequest) session.Session {
	m.t.Helper()
	r.AppName, r.UserID, r.SessionID = "a", "u", m.id
	got, err := m.s.Get(m.t.Context(), &r)
	require.NoError(m.t, err)
	return got.Session
}

// event returns an event that sets some values.
func (m *changer) event() *session.Event {
	m.ids++
	m.at = m.at.Add(time.Minute)
	e := &session.Event{ID: fmt.Sprint("e", m.ids), Author: []string{"user", "weather"}[m.r.IntN(2)], Timestamp: m.at}
	if m.r.IntN(3) > 0 {
		e.Actions.StateDelta = map[string]any{
			fmt.Sprint("k", m.r.IntN(5)): m.r.IntN(100), fmt.Sprint("temp:k", m.r.IntN(5)): m.r.IntN(100),
			fmt.Sprint([]string{"rare", "app:k", "user:k"}[m.r.IntN(3)], m.r.IntN(30)): []any{"v", m.r.IntN(100)},
		}
	}
	return e
}

// change does one thing to the session, and returns what.
func (m *changer) change() string {
	t, ctx := m.t, m.t.Context()
	rows, err := m.st.Load(ctx, m.id)
	require.NoError(t, err)
	turns := slice.CountTurns(rows.Messages)
	switch n := m.r.IntN(24); {
	case n == 0 && turns > 1:
		fork, err := slice.Fork(ctx, m.st, m.id, &slice.ForkOptions{Turn: new(1 + m.r.IntN(turns))})
		require.NoError(t, err)
		m.id = fork.ID
		m.held = m.get(session.GetRequest{})
		return "a fork"
	case n == 1 && turns > 1:
		_, err = slice.RewindSessionTo(ctx, m.st, m.id, 1+m.r.IntN(turns-1), slice.Complete)
		require.NoError(t, err)
		return "a rewind"
	case n == 2 && len(rows.Messages) > 0:
		m.rewrite(rows, m.r.IntN(len(rows.Messages)))
		return "another tool changed what an event set"
	case n == 3 && len(rows.Messages) > 1:
		i := m.r.IntN(len(rows.Messages))
		require.NoError(t, m.replace(rows, slices.Delete(rows.Messages, i, i+1)))
		return "another tool removed a message"
	case n == 4:
		i := slices.IndexFunc(rows.Messages, func(m sessionstore.Message) bool { _, ok := m.Lookup(keptField); return ok })
		if i < 0 {
			return "nothing"
		}
		var k kept
		raw, _ := rows.Messages[i].Lookup(keptField)
		require.NoError(t, json.Unmarshal(raw, &k))
		k.State = `{"k0":"of another tool"}`
		rows.Messages[i], err = rows.Messages[i].With(keptField, k)
		require.NoError(t, err)
		require.NoError(t, m.replace(rows, rows.Messages))
		return "another tool changed a kept state"
	case n == 5:
		note, err := sessionstore.Text("user", "a note", m.at)
		require.NoError(t, err)
		require.NoError(t, m.st.Append(ctx, m.id, note))
		return "a message of another tool"
	case n < 9:
		m.held = m.get(session.GetRequest{NumRecentEvents: m.r.IntN(3)})
		return "a new program"
	}
	e := m.event()
	for range 1 + m.r.IntN(5)/4 {
		require.NoError(t, m.s.AppendEvent(ctx, m.held, e))
	}
	return "an event"
}

// replace makes messages the session, as another tool does.
func (m *changer) replace(was *sessionstore.Session, messages []sessionstore.Message) error {
	_, err := m.st.Replace(m.t.Context(), m.id, was.Revision, messages)
	return err
}

// rewrite changes the state that event i sets.
func (m *changer) rewrite(s *sessionstore.Session, i int) {
	e, err := eventOf(s.Messages[i])
	require.NoError(m.t, err)
	e.Actions.StateDelta = map[string]any{"k0": "rewritten", fmt.Sprint("of ", m.ids): i}
	if s.Messages[i], err = s.Messages[i].With(eventField, e); err == nil {
		err = m.replace(s, s.Messages)
	}
	require.NoError(m.t, err)
}

// created returns the state at creation, which a fork has beside its first event alone.
func (m *changer) created(s *sessionstore.Session) map[string]any {
	if state := stateOf(s.Metadata); len(state) > 0 || len(s.Messages) == 0 {
		return state
	}
	var k kept
	if raw, ok := s.Messages[0].Lookup(keptField); ok {
		require.NoError(m.t, json.Unmarshal(raw, &k))
	}
	if k.Cursor != (sessionstore.Cursor{}) || k.State == `{"k0":"of another tool"}` {
		return map[string]any{}
	}
	return stateIn(k.State)
}

// check compares.
func (m *changer) check(after string) {
	t, ctx := m.t, m.t.Context()
	s, err := m.st.Load(ctx, m.id)
	require.NoError(t, err)
	memory := session.InMemoryService()
	made, err := memory.Create(ctx, &session.CreateRequest{AppName: "a", UserID: "u", SessionID: m.id})
	require.NoError(t, err)
	state := m.created(s)
	for i, row := range s.Messages {
		e, err := eventOf(row)
		require.NoError(t, err)
		maps.Copy(state, e.Actions.StateDelta)
		if i+1 < len(s.Messages) { // of a repeated event the last counts
			next, err := eventOf(s.Messages[i+1])
			require.NoError(t, err)
			if e.ID != "" && e.ID == next.ID {
				continue
			}
		}
		require.NoError(t, memory.AppendEvent(ctx, made.Session, e))
	}
	shared, err := m.s.shared(ctx, "a", "u")
	require.NoError(t, err)
	maps.Copy(state, shared)
	for range 3 {
		r := session.GetRequest{AppName: "a", UserID: "u", SessionID: m.id, NumRecentEvents: m.r.IntN(12)}
		if m.r.IntN(2) == 0 {
			r.After = m.at.Add(time.Duration(1-m.r.IntN(40)) * time.Minute)
		}
		want, err := memory.Get(ctx, &r)
		require.NoError(t, err)
		got := m.get(r)
		require.Equal(t, state, maps.Collect(got.State().All()), after)
		require.Equal(t, slices.Collect(want.Session.Events().All()), slices.Collect(got.Events().All()), after)
	}
}

// TestModel changes a session at random, by the service and by other tools, and compares.
func TestModel(t *testing.T) {
	t.Parallel()
	for i := range testenv.Share(2, 6, 60) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s, p := open(t, t.TempDir())
			m := &changer{t: t, r: testenv.Rand(t), s: s, id: "s", at: noon}
			made, err := s.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s", State: map[string]any{"k0": "created", "n": 1, "user:n": 1}})
			require.NoError(t, err)
			m.held = made.Session
			m.st, err = p.Store(fmt.Sprintf("adk.%x.%x", "a", "u"))
			require.NoError(t, err)
			for step := range 150 {
				m.check(fmt.Sprintf("step %d: %s", step, m.change()))
			}
		})
	}
}
