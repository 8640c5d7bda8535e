package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/examples/viewer/eventview"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

func TestPhases(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil)
	require.JSONEq(t, `{"records": [], "read": 0}`, s.get(200, api(one)+"/phases"))
	prompt := attack + strings.Repeat("p", 1<<20)
	id := s.phase(one, workflow.PhaseOutput{PhaseID: "plan", PhaseName: "Plan", Status: "running", SystemPrompt: &prompt, UserInput: new("in")})
	s.phase(one, workflow.PhaseOutput{PhaseID: "plan", PhaseName: "Plan", Status: "completed", Output: new("out")})
	s.phase(one, workflow.PhaseOutput{PhaseID: "gather", PhaseName: "Gather", Status: "failed", Error: new("why")})
	body := s.get(200, api(one)+"/phases")
	require.Less(t, len(body), 2000)
	require.NotContains(t, body, "system_prompt")
	require.NotContains(t, body, "user_input")
	require.Contains(t, body, `"has_prompts":true`)
	require.Contains(t, body, `"has_prompts":false`)

	want, err := s.log.PhaseOutputs(t.Context(), one)
	require.NoError(t, err)
	var got workflow.PhaseRecord
	s.json(fmt.Sprintf("%s/phases/%d", api(one), id), &got)
	require.Equal(t, want[0], got)
	s.get(404, api(one)+"/phases/99")
	s.get(400, api(one)+"/phases/x")
}

func TestResume(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ask := func(id string) (int, string) {
		answer, body := s.send("POST", api(id)+"/resume", "Origin", s.url)
		return answer.StatusCode, body
	}
	refused := func(status int, id, want string) {
		t.Helper()
		got, body := ask(id)
		require.Equal(t, status, got, body)
		var failure struct {
			Error string `json:"error"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &failure))
		require.Equal(t, want, failure.Error)
	}
	s.create(one, nil)
	refused(409, one, "Session "+one+" has no completed phases to resume from")
	s.phase(one, workflow.PhaseOutput{PhaseID: "plan", Status: "running", UserInput: new("question"), SystemPrompt: new("be brief")})
	s.phase(one, workflow.PhaseOutput{PhaseID: "plan", Status: "completed", Output: new(long(3 * maxHistory))})
	status, body := ask(one)
	require.Equal(t, 200, status, body)
	var res struct {
		Session     map[string]any         `json:"session"`
		NextPhaseID string                 `json:"next_phase_id"`
		Context     workflow.ResumeContext `json:"context"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &res))
	require.Equal(t, "gather", res.NextPhaseID)
	require.Equal(t, "Research", res.Session["manifest_name"])
	require.Equal(t, workflow.ResumeContext{
		History:            []workflow.ChatMessage{{Role: "user", Content: "question"}, {Role: "assistant", Content: long(maxHistory) + "…"}},
		LastCompletedPhase: "plan", TotalPhases: 3, CompletedPhases: 1,
	}, res.Context)

	s.write(one, "phase_outputs.jsonl", s.read(one, "phase_outputs.jsonl")+"damage\n")
	status, body = ask(one)
	require.Equal(t, 200, status)
	require.Contains(t, body, `"damage":"`)

	for state, want := range map[string]string{"completed": " already completed", "failed": " failed and cannot be resumed", "odd": " has invalid status: odd"} {
		_, err := s.store.UpdateMetadata(t.Context(), one, func(md *sessionstore.Metadata) error { return md.Set("status", state) })
		require.NoError(t, err)
		refused(409, one, "Session "+one+want)
	}
	refused(404, two, "Session "+two+" not found: file does not exist")
	s.create(two, map[string]any{"manifest_name": "Unknown", "status": "in_progress"})
	s.phase(two, workflow.PhaseOutput{PhaseID: "plan", Status: "completed"})
	refused(409, two, `resume session "`+two+`": manifest "Unknown" is unknown`)
}

func (s *site) read(id, name string) string {
	s.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, id, name))
	require.NoError(s, err)
	return string(data)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	text := long(20_000)
	s.create(one, nil, user(text), map[string]any{"role": "assistant", "content": "x", "tool_calls": []any{map[string]any{"id": "c", "tool": "t", "arguments": map[string]any{"a": text}}}},
		map[string]any{"role": "tool", "tool_call_id": "c", "content": text}, user("more"))
	var list messageList
	s.json(api(one)+"/messages", &list)
	require.Equal(t, 4, list.Total)
	require.Equal(t, 2, list.Turns)
	require.JSONEq(t, `{"message": 0}`, s.get(200, api(one)+"/turns/1"))
	require.JSONEq(t, `{"message": 3}`, s.get(200, api(one)+"/turns/2?tag="+list.Tag))
	require.Len(t, list.Rows, 4)
	require.True(t, list.Rows[0].Text.Cut)
	require.Equal(t, 20_000, list.Rows[0].Text.Size)
	require.True(t, list.Rows[1].Calls[0].Arguments.Cut)
	require.True(t, list.Rows[1].Calls[0].Result.Text.Cut)
	require.True(t, list.Rows[2].Elsewhere)

	var whole conversation.Message
	s.json(api(one)+"/messages/1", &whole)
	require.Equal(t, text, whole.Calls[0].Result.Text.Text)
	require.Equal(t, s.read(one, "transcript.jsonl")[:len(text)], s.get(200, api(one)+"/messages/0/line")[:len(text)])

	var part messageList
	s.json(api(one)+"/messages?from=3&to=900", &part)
	require.Len(t, part.Rows, 1)
	require.Equal(t, list.Tag, part.Tag)
	s.json(api(one)+"/messages?from=77", &part)
	require.Empty(t, part.Rows)
	s.get(200, api(one)+"/messages?tag="+list.Tag)
	s.add(one, user("newer"))
	s.get(409, api(one)+"/messages?tag="+list.Tag)
	s.get(409, api(one)+"/messages/0?tag="+list.Tag)
	s.json(api(one)+"/messages?from=4", &part)
	require.Equal(t, "newer", part.Rows[0].Text.Text)
	for path, status := range map[string]int{"/messages?from=x": 400, "/messages?from=-1": 400, "/messages?to=x": 400, "/messages/9": 404, "/messages/-1": 404, "/messages/x": 400, "/messages/9/line": 404, "/turns/0": 404, "/turns/3": 200, "/turns/4": 404, "/turns/x": 400, "/turns/1?tag=x": 409} {
		s.get(status, api(one)+path)
	}
}

func TestMessagesAreReadAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil)
	for i := range 40 { // faster than some file systems' clocks tell apart
		s.write(one, "transcript.jsonl", fmt.Sprintf("{\"role\": \"user\", \"content\": \"%02d\"}\n", i))
		var list messageList
		s.json(api(one)+"/messages", &list)
		require.Equal(t, fmt.Sprintf("%02d", i), list.Rows[0].Text.Text)
	}
}

func (s *site) logged(id string, events ...eventslog.Event) {
	s.Helper()
	log, err := eventslog.Open(filepath.Join(s.dir, id), nil)
	require.NoError(s, err)
	require.NoError(s, log.Append(s.Context(), events...))
	require.NoError(s, log.Close())
}

func TestEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil)
	list := func(query string) (p eventview.Page) {
		t.Helper()
		for !p.Complete {
			s.json(api(one)+"/events?"+query, &p)
		}
		return p
	}
	p := list("")
	require.Equal(t, eventview.Page{Rows: []eventview.Row{}, Complete: true}, p)
	huge := strings.Repeat("x", 8<<20)
	at := time.Date(2026, 3, 1, 10, 0, 0, 5e6, time.UTC)
	s.logged(one, eventslog.Event{Name: "tool:pre", Time: at, Data: map[string]any{"n": 1}}, eventslog.Event{Name: "llm:response", Level: "DEBUG", Data: map[string]any{"text": huge}}, eventslog.Event{Name: "tool:post", Level: "ERROR"})
	p = list("")
	require.Equal(t, 3, p.Known)
	require.Equal(t, "tool:pre", p.Rows[0].Event)
	require.Equal(t, "2026-03-01T10:00:00.005Z", p.Rows[0].Time)
	for query, want := range map[string]int{"level=error": 1, "level=INFO": 1, "name=TOOL": 2, "name=tool&level=debug": 0, "from=1": 2, "from=1&n=1": 1, "n=0": 0, "from=8": 0, "log=events": 3} {
		require.Len(t, list(query).Rows, want, query)
	}
	for _, query := range []string{"from=x", "n=-1", "log=other"} {
		s.get(400, api(one)+"/events?"+query)
	}

	event := func(row eventview.Row) string { return api(one) + "/event?at=" + url.QueryEscape(row.At) }
	require.Contains(t, s.get(200, event(p.Rows[0])), "\n  \"data\": {\n    \"n\": 1\n  }\n")
	answer, body := s.send("GET", event(p.Rows[1]))
	require.Len(t, body, maxShown)
	require.Equal(t, fmt.Sprint(maxShown), answer.Header.Get("X-Event-Shown"))
	answer, body = s.send("GET", event(p.Rows[1])+"&download")
	require.Len(t, body, int(p.Rows[1].Size))
	require.Contains(t, body, huge)
	require.Regexp(t, `^attachment; filename="event-\d+\.json"$`, answer.Header.Get("Content-Disposition"))
	s.get(400, api(one)+"/event?at=nonsense")
	s.get(400, event(p.Rows[0])+"&log=other")
	require.NoError(t, os.Remove(filepath.Join(s.dir, one, "events.jsonl")))
	s.logged(one, eventslog.Event{Name: "another log"})
	s.get(409, event(p.Rows[1]))
	first := p.Epoch
	require.Equal(t, first+1, list("").Epoch)
}

func TestNewerEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil)
	s.write(one, "context-intelligence/events.jsonl", `{"event": "turn:start", "timestamp": "2026-03-01T10:00:00Z", "data": {}}`+"\n")
	var p eventview.Page
	s.json(api(one)+"/events?log=context-intelligence", &p)
	require.Len(t, p.Rows, 1)
	require.Contains(t, s.get(200, api(one)+"/event?log=context-intelligence&at="+p.Rows[0].At), "turn:start")

	elsewhere := t.TempDir()
	require.NoError(t, os.RemoveAll(filepath.Join(s.dir, one, "context-intelligence")))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(s.dir, one, "context-intelligence")))
	s.get(500, api(one)+"/event?log=context-intelligence&at="+p.Rows[0].At)
}

func TestDeepEventsStayShort(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	var out strings.Builder
	require.NoError(t, showEvent(&out, strings.NewReader(deep), true))
	require.Equal(t, deep, out.String())
	out.Reset()
	require.NoError(t, showEvent(&out, strings.NewReader("{\"a\": NaN, \"b\": \"\xff\"}"), true))
	require.Equal(t, "{\"a\": NaN, \"b\": \"\uFFFD\"}", out.String())
}

func TestTooManyStreams(t *testing.T) {
	t.Parallel()
	s := &Server{streams: make(chan struct{}, 1)}
	w := record(http.NotFoundHandler(), mustRequest(t))
	_, end, err := s.streamTo(w)
	require.NoError(t, err)
	_, _, err = s.streamTo(w)
	require.ErrorIs(t, err, errBusy)
	status, kind := classify(err)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "busy", kind)
	end()
	_, end, err = s.streamTo(w)
	require.NoError(t, err)
	end()
}

func mustRequest(t *testing.T) *http.Request {
	r, err := http.NewRequestWithContext(t.Context(), "GET", "/", nil)
	require.NoError(t, err)
	return r
}
