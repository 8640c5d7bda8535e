package web

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// sent is an event of a stream.
type sent struct{ name, id, data string }

// stream reads the events of a stream as they come.
type stream struct {
	*site
	events <-chan sent
	close  func()
}

func (s *site) listen(path string, headers ...string) *stream {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), 5*time.Minute) // of all that the test does meanwhile
	s.Cleanup(stop)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	require.NoError(s, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := new(http.Client).Do(r)
	require.NoError(s, err)
	require.Equal(s, "text/event-stream", answer.Header.Get("Content-Type"))
	events := make(chan sent, 1000)
	go func() {
		defer close(events)
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 16<<20)
		var now sent
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch name {
			case "event":
				now.name = value
			case "id":
				now.id = value
			case "data":
				now.data = value
			case "":
				if now.name != "" {
					events <- now
				}
				now = sent{}
			}
		}
	}()
	return &stream{s, events, stop}
}

// next returns the next event of that name, and passes over others.
func (st *stream) next(name string) sent {
	st.Helper()
	for e := range st.events {
		if e.name == name {
			return e
		}
	}
	require.FailNow(st, "stream ended", "no event %q", name)
	return sent{}
}

func decode[T any](t *testing.T, e sent) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(e.data), &v), e.data)
	return v
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("first"))
	s.phase(one, workflow.PhaseOutput{PhaseID: "plan", Status: "completed", Output: new("old")})
	s.logged(one, eventslog.Event{Name: "old"})
	live := s.listen(api(one) + "/stream")
	ready := decode[map[string]any](t, live.next("ready"))
	var list phaseList
	s.json(api(one)+"/phases", &list)
	require.InDelta(t, list.Read, ready["read"], 0)

	secret := "secret" + strings.Repeat("p", 1<<20)
	s.phase(one, workflow.PhaseOutput{PhaseID: "gather", PhaseName: "Gather", Status: "running", SystemPrompt: &secret})
	e := live.next("phase-output")
	require.NotContains(t, e.data, "secret")
	require.NotContains(t, e.data, "system_prompt")
	rec := decode[workflow.PhaseSummary](t, e)
	require.Equal(t, "gather", rec.PhaseID)
	require.True(t, rec.HasPrompts)
	require.Equal(t, one, rec.SessionID)

	s.add(one, user(strings.Repeat("long", 1<<20)))
	e = live.next("transcript")
	require.Less(t, len(e.data), 1<<14)
	told := decode[toldMessages](t, e)
	require.Equal(t, 2, told.Total)
	require.Equal(t, 1, told.From)
	require.Equal(t, "user", told.Rows[0].Role)

	s.logged(one, eventslog.Event{Name: "new", Data: map[string]string{"x": strings.Repeat("y", 1<<20)}})
	e = live.next("event")
	require.Less(t, len(e.data), 1000)
	heads := decode[toldEvents](t, e)
	require.Equal(t, "events", heads.Log)
	require.Equal(t, "new", heads.Rows[0].Event)
	s.write(one, "context-intelligence/events.jsonl", `{"event": "turn:start", "data": {}}`+"\n")
	heads = decode[toldEvents](t, live.next("event"))
	require.Equal(t, "context-intelligence", heads.Log)

	_, err := s.store.UpdateMetadata(t.Context(), one, func(md *sessionstore.Metadata) error { return md.Set("status", "completed") })
	require.NoError(t, err)
	live.next("session")
	require.NoError(t, s.store.Delete(t.Context(), one))
	live.next("gone")
	_, more := <-live.events
	require.False(t, more)
}

// TestReconnect loses a stream, changes everything and goes on.
func TestReconnect(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("first"), map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "c", "tool": "t", "arguments": map[string]any{}}}})
	s.phase(one, workflow.PhaseOutput{PhaseID: "plan", Status: "completed"})
	s.logged(one, eventslog.Event{Name: "old"})
	live := s.listen(api(one) + "/stream")
	id := live.next("ready").id
	require.NotEmpty(t, id)
	live.close()
	s.phase(one, workflow.PhaseOutput{PhaseID: "gather", Status: "running"})
	s.phase(one, workflow.PhaseOutput{PhaseID: "gather", Status: "failed"})
	s.add(one, map[string]any{"role": "tool", "tool_call_id": "c", "content": "r"})
	s.logged(one, eventslog.Event{Name: "new"})
	for _, again := range []*stream{s.listen(api(one)+"/stream", "Last-Event-ID", id), s.listen(api(one) + "/stream?last=" + id)} {
		rec := decode[workflow.PhaseSummary](t, again.next("phase-output"))
		require.Equal(t, "failed", rec.Status)
		told := decode[toldMessages](t, again.next("transcript"))
		require.Equal(t, 1, told.From, "the message with the call that is answered now")
		heads := decode[toldEvents](t, again.next("event"))
		require.Len(t, heads.Rows, 1)
		require.Equal(t, "new", heads.Rows[0].Event)
		again.close()
	}

	s.write(one, "transcript.jsonl", `{"role": "user", "content": "another"}`+"\n")
	s.write(one, "phase_outputs.jsonl", "")
	require.NoError(t, os.Remove(filepath.Join(s.dir, one, "events.jsonl")))
	again := s.listen(api(one)+"/stream", "Last-Event-ID", id)
	require.Empty(t, decode[phaseList](t, again.next("phases")).Records)
	require.Zero(t, decode[toldMessages](t, again.next("transcript")).From)
	require.True(t, decode[toldEvents](t, again.next("event")).Rewritten)
}

func TestForgedPositions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "!", "bnVsbA", position{Phases: -1}.String(), "W10", "eyJwIjoiYSJ9"} {
		_, ok := parsePosition(text)
		require.Equal(t, text == "bnVsbA", ok, text) // null is the beginning
	}
	s := newSite(t)
	s.create(one, nil, user("x"))
	s.create(two, nil, user("another"), user("longer"), user("session"))
	v, err := s.store.View(t.Context(), two)
	require.NoError(t, err)
	elsewhere, err := v.Cursor(t.Context(), 3)
	require.NoError(t, v.Close())
	require.NoError(t, err)
	odd := position{Phases: 1 << 60, Messages: elsewhere}
	odd.Events[0].Offset = 1 << 60
	live := s.listen(api(one)+"/stream", "Last-Event-ID", odd.String())
	live.next("ready")
	require.Zero(t, decode[toldMessages](t, live.next("transcript")).From)
}

func TestListStream(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	live := s.listen("/api/p/weather/stream")
	live.next("ready")
	s.create(one, nil)
	live.next("list")
}

// TestShutdown ends streams and watches with the server.
func TestShutdown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil, user("x"))
	var streams []*stream
	for _, path := range []string{api(one) + "/stream", "/api/p/weather/stream", api(one) + "/stream"} {
		st := s.listen(path)
		st.next("ready")
		streams = append(streams, st)
	}
	at, err := s.places.place(t.Context(), "weather")
	require.NoError(t, err)
	s.stop()
	for _, st := range streams {
		for range st.events {
		}
	}
	require.Nil(t, at.hub.watcher)
	require.Empty(t, at.hub.subs)
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, false)]
	require.NotContains(t, string(stacks), "publish")
}

// TestHub starts one watch for all subscribers, and bounds what waits.
func TestHub(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := newHub(s.store)
	a, err := h.subscribe(t.Context(), one)
	require.NoError(t, err)
	b, err := h.subscribe(t.Context(), "")
	require.NoError(t, err)
	for i := range 500 {
		h.publish(sessionstore.Change{ID: one, File: "f" + string(rune('a'+i%26))})
		h.publish(sessionstore.Change{ID: string(rune('a' + i)), File: "x"})
	}
	names, all := a.take()
	require.False(t, all)
	require.Len(t, names, 26)
	names, all = b.take()
	require.True(t, all)
	require.Len(t, names, maxWaiting)
	names, all = b.take()
	require.Empty(t, names)
	require.False(t, all)
	h.publish(sessionstore.Change{Op: sessionstore.Rescan})
	_, all = a.take()
	require.True(t, all)
	h.unsubscribe(a)
	require.NotNil(t, h.watcher)
	h.unsubscribe(b)
	require.Nil(t, h.watcher)
	h.unsubscribe(b)
	h.close()
}
