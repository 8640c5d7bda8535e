package adk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"appends": appends})
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// event returns an event of so many minutes after noon, which sets two values.
func event(minutes, size int) *session.Event {
	return &session.Event{
		ID: fmt.Sprint(minutes), Author: "weather", Timestamp: noon.Add(time.Duration(minutes) * time.Minute),
		Actions:     session.EventActions{StateDelta: map[string]any{"last": float64(minutes), fmt.Sprint("of ", minutes%3): float64(minutes)}},
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(strings.Repeat("y", size), genai.RoleModel)},
	}
}

// TestVersion1 reads what the bridge to version 1.0.0 of adk-go stored, and goes on.
func TestVersion1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/v1")))
	s, _ := open(t, dir)
	r := &session.GetRequest{AppName: "Weather", UserID: "ada", SessionID: "talk"}
	got, err := s.Get(t.Context(), r)
	require.NoError(t, err)
	want := map[string]any{"api_key": "k", "n": 2.0, "app:theme": "dark", "user:name": "Ada L.", "looked": "here", "said": "It will rain."}
	require.Equal(t, want, maps.Collect(got.Session.State().All()))
	events := slices.Collect(got.Session.Events().All())
	require.Len(t, events, 5, "one was stored twice")
	call := events[1]
	require.Equal(t, [5]any{"2", "i1", "a.b", "weather", noon.Add(time.Minute)}, [5]any{call.ID, call.InvocationID, call.Branch, call.Author, call.Timestamp})
	require.Equal(t, []string{"c1"}, call.LongRunningToolIDs)
	require.Equal(t, []*genai.Part{
		{Text: "I shall look.", Thought: true, ThoughtSignature: []byte("signed")},
		{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "look", Args: map[string]any{"place": "here"}}},
	}, call.Content.Parts)
	require.Equal(t, &genai.Blob{Data: []byte("image"), MIMEType: "image/png"}, events[2].Content.Parts[1].InlineData)
	require.Equal(t, session.EventActions{
		StateDelta: map[string]any{"looked": "here", "n": 2.0, "user:name": "Ada L."}, ArtifactDelta: map[string]int64{"map.png": 3},
		SkipSummarization: true, TransferToAgent: "b", Escalate: true,
	}, events[2].Actions)
	said := events[3]
	require.True(t, said.TurnComplete && said.Interrupted)
	require.Equal(t, [3]any{"E", "m", genai.FinishReasonStop}, [3]any{said.ErrorCode, said.ErrorMessage, said.FinishReason})
	require.InDelta(t, -0.5, said.AvgLogprobs, 0)
	require.Equal(t, map[string]any{"k": "v"}, said.CustomMetadata)
	require.EqualValues(t, 2, said.UsageMetadata.TotalTokenCount)
	require.Equal(t, []string{"rain"}, said.GroundingMetadata.WebSearchQueries)
	require.Equal(t, "u", said.CitationMetadata.Citations[0].URI)
	require.Equal(t, "Take an umbrella.", events[4].Content.Parts[0].Text)
	all, err := s.List(t.Context(), &session.ListRequest{AppName: "Weather"})
	require.NoError(t, err)
	require.Len(t, all.Sessions, 2)

	for i := range 20 {
		require.NoError(t, s.AppendEvent(t.Context(), got.Session, event(i, 10)))
	}
	r.NumRecentEvents = 3
	got, err = s.Get(t.Context(), r)
	require.NoError(t, err)
	maps.Copy(want, map[string]any{"last": 19.0, "of 0": 18.0, "of 1": 19.0, "of 2": 17.0})
	require.Equal(t, want, maps.Collect(got.Session.State().All()))
}

// TestLargeState has a state that is larger than the events: it at most doubles the session.
func TestLargeState(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	const size = 20_000
	made, err := s.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s", State: map[string]any{"large": strings.Repeat("x", size)}})
	require.NoError(t, err)
	for i := range 200 {
		require.NoError(t, s.AppendEvent(t.Context(), made.Session, event(i, 100)))
	}
	st, err := s.store("a", "u")
	require.NoError(t, err)
	stored, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	states, events := 0, 0
	for _, m := range stored.Messages {
		state, _ := m.Lookup(keptField)
		event, _ := m.Lookup(eventField)
		states, events = states+len(state), events+len(event)
	}
	require.Greater(t, states, 2*size)
	require.Less(t, states, events+2*size)
	got, err := s.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s", NumRecentEvents: 1})
	require.NoError(t, err)
	require.Equal(t, maps.Collect(made.Session.State().All()), maps.Collect(got.Session.State().All()))
}

// TestDamagedEvent has an event that another tool damaged: Get says which, and shows nothing of it.
func TestDamagedEvent(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	made, err := s.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	st, err := s.store("a", "u")
	require.NoError(t, err)
	bad, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "secret", "adk_event": {"timestamp": "secret"}}`))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", bad))
	_, err = s.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"})
	require.ErrorIs(t, err, errEvent)
	require.EqualError(t, err, `read session "s": message 1: adk_event is no event of adk-go: mend the field, or rewind the session to a turn before it`)

	all, err := s.List(t.Context(), &session.ListRequest{AppName: "a"})
	require.NoError(t, err)
	require.Len(t, all.Sessions, 1)
	_, err = all.Sessions[0].State().Get("k")
	require.ErrorIs(t, err, errEvent)
	require.ErrorIs(t, all.Sessions[0].State().Set("k", 1), errEvent)
	require.Empty(t, maps.Collect(all.Sessions[0].State().All()))
	require.ErrorIs(t, s.AppendEvent(t.Context(), all.Sessions[0], event(1, 1)), errEvent)

	for i := range 2 * spacing {
		require.NoError(t, s.AppendEvent(t.Context(), made.Session, event(i, 1)), "the event of a session that is in memory is stored")
	}
	got, err := s.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s", NumRecentEvents: 3})
	require.ErrorIs(t, err, errEvent, "no state was kept")
	require.Nil(t, got)
	stored, err := st.Load(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, stored.Messages, 1+2*spacing)
}

// appends is a child that appends events to a session, each of which sets a value of its own,
// and prints each that is stored.
func appends(dir, name string) (err error) {
	p, err := projects.Open(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	s, ctx := New(p), context.Background()
	got, err := s.Get(ctx, &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s", NumRecentEvents: 1})
	for i := 0; err == nil && i < perChild; i++ {
		e := event(i, 10)
		e.ID = fmt.Sprint(name, " ", i)
		e.Actions.StateDelta = map[string]any{e.ID: true, "app:" + name: i}
		if err = s.AppendEvent(ctx, got.Session, e); err == nil {
			fmt.Println(e.ID)
		}
	}
	return err
}

const perChild = 40

// TestProcesses has programs append to one session at once, and kills some of them: no event
// is lost that was stored, and the state is that of all events.
func TestProcesses(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), testenv.Rand(t)
	s, _ := open(t, dir)
	_, err := s.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u", SessionID: "s", State: map[string]any{"k": "v"}})
	require.NoError(t, err)
	stored := map[string]any{}
	for round := range testenv.Share(2, 4, 40) {
		killed, spared := testenv.Spawn(t, "appends", dir, fmt.Sprint("killed ", round)), testenv.Spawn(t, "appends", dir, fmt.Sprint("spared ", round))
		for range r.IntN(perChild - 1) {
			line, ok := killed.Line()
			require.True(t, ok)
			stored[line] = true
		}
		killed.KillNow()
		for _, p := range []*testenv.Process{killed, spared} {
			for line, ok := p.Line(); ok; line, ok = p.Line() {
				stored[line] = true
			}
			p.Wait()
		}
	}
	all, err := s.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s"})
	require.NoError(t, err)
	state, ids := maps.Collect(all.Session.State().All()), map[string]bool{}
	for e := range all.Session.Events().All() {
		require.False(t, ids[e.ID], e.ID)
		ids[e.ID] = true
	}
	for id := range stored {
		require.True(testenv.Lost(t), ids[id], id)
		require.Equal(testenv.Lost(t), true, state[id], id)
	}
	require.LessOrEqual(t, len(ids)-len(stored), testenv.Share(2, 4, 40), "of each that was killed one event at most was not reported")
	end, err := s.Get(t.Context(), &session.GetRequest{AppName: "a", UserID: "u", SessionID: "s", NumRecentEvents: 1})
	require.NoError(t, err)
	require.Equal(t, state, maps.Collect(end.Session.State().All()))
}
