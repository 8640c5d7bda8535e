package web

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/sessionstore/checkpoint"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

const token = "a-token"

// answer sends a body with headers, and returns the JSON of the answer.
func (s *site) answer(status int, path, text string, headers ...string) []byte {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.url+path, strings.NewReader(text))
	require.NoError(s, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := new(http.Client).Do(r)
	require.NoError(s, err)
	data, err := io.ReadAll(answer.Body)
	require.NoError(s, err)
	require.NoError(s, answer.Body.Close())
	require.Equal(s, status, answer.StatusCode, string(data))
	require.Equal(s, "application/json", answer.Header.Get("Content-Type"))
	return data
}

// post sends a body with headers, and returns the kind of the failure, "" for
// none.
func (s *site) post(status int, path, text string, headers ...string) (kind string) {
	s.Helper()
	data := s.answer(status, path, text, headers...)
	var f failureText
	require.NoError(s, json.Unmarshal(data, &f))
	require.Equal(s, status != 200, f.Error != "", string(data))
	require.NotContains(s, f.Error, "secret")
	return f.Kind
}

func (s *site) own(headers ...string) []string {
	return append([]string{"Origin", s.url, TokenHeader, token, "Content-Type", "application/json"}, headers...)
}

func TestPhaseOutputsAreTaken(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{Token: token, NoToken: true, Write: true})
	s.create(one, nil)
	live := s.listen(api(one) + "/stream")
	live.next("ready")
	s.post(200, api(one)+"/phases", `{"session_id": "`+one+`", "phase_id": "plan", "phase_name": "Plan", "status": "running", "system_prompt": "be brief", "user_input": null, "output": null, "error": null}`, s.own()...)
	require.Contains(t, live.next("phase-output").data, `"phase_name":"Plan"`)
	s.post(200, api(one)+"/phases", `{"phase_id": "plan", "status": "completed", "output": "done"}`, s.own("Content-Type", "application/json; charset=utf-8")...)
	all, err := s.log.PhaseOutputs(t.Context(), one)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, []string{"completed", "be brief", "done"}, []string{all[0].Status, *all[0].SystemPrompt, *all[0].Output})

	s.post(200, api(one)+"/conversation", `{"phase_id": "plan", "role": "assistant", "content": "**why**"}`, s.own()...)
	live.next("conversation")
	require.Contains(t, s.get(200, api(one)+"/conversation"), `"html":"<p><strong>why</strong></p>\n"`)
}

// TestRefusals sends what must not be stored, and finds that nothing was.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newSiteWith(t, Options{Token: token, NoToken: true, Write: true})
	s.create(one, nil)
	phase := `{"phase_id": "plan", "status": "running", "output": "secret"}`
	large := `{"phase_id": "plan", "status": "running", "output": "` + strings.Repeat("x", maxBody) + `"}`
	for _, tt := range []struct {
		name, path, body string
		headers          []string
		status           int
		kind             string
	}{
		{"foreign origin", "/phases", phase, s.own("Origin", "http://evil.example"), 403, "other_origin"},
		{"no origin", "/phases", phase, []string{TokenHeader, token, "Content-Type", "application/json"}, 403, "other_origin"},
		{"form of another site", "/phases", phase, s.own("Sec-Fetch-Site", "cross-site"), 403, "other_origin"},
		{"no token", "/phases", phase, s.own(TokenHeader, ""), 403, "token"},
		{"wrong token", "/phases", phase, s.own(TokenHeader, token+"x"), 403, "token"},
		{"no token for a message", "/conversation", `{"role": "user"}`, s.own(TokenHeader, ""), 403, "token"},
		{"form", "/phases", phase, s.own("Content-Type", "text/plain"), 415, "media_type"},
		{"too large", "/phases", large, s.own(), 413, "too_large"},
		{"too large behind the value", "/phases", phase + strings.Repeat(" ", maxBody), s.own(), 413, "too_large"},
		{"bad JSON", "/phases", `{"secret`, s.own(), 400, "bad_request"},
		{"two values", "/phases", phase + phase, s.own(), 400, "bad_request"},
		{"another type", "/phases", `{"phase_id": {"secret": 1}}`, s.own(), 400, "bad_request"},
		{"unknown member", "/phases", `{"phase_id": "plan", "status": "running", "secret": 1}`, s.own(), 400, "bad_request"},
		{"another session", "/phases", `{"session_id": "` + two + `", "phase_id": "plan", "status": "running"}`, s.own(), 400, "bad_request"},
		{"no phase", "/phases", `{"status": "running"}`, s.own(), 400, "bad_request"},
		{"unknown status", "/phases", `{"phase_id": "plan", "status": "secret"}`, s.own(), 400, "bad_request"},
		{"unknown role", "/conversation", `{"role": "secret", "content": "x"}`, s.own(), 400, "bad_request"},
		{"no such path", "/nothing", phase, s.own(), 404, "not_found"},
		{"wrong method", "/decisions", phase, s.own(), 405, "method"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.kind, s.post(tt.status, api(one)+tt.path, tt.body, tt.headers...))
		})
	}
	require.Equal(t, "not_found", s.post(404, api(two)+"/phases", phase, s.own()...))
	require.Equal(t, "not_found", s.post(404, "/api/p/other/s/"+one+"/phases", phase, s.own()...))
	answer, body := s.send("DELETE", api(one)+"/phases", "Origin", s.url)
	require.Equal(t, 405, answer.StatusCode)
	require.Contains(t, body, `"kind":"method"`)
	require.Contains(t, answer.Header.Get("Allow"), "POST")
	require.NoFileExists(t, filepath.Join(s.dir, one, "phase_outputs.jsonl"))
	require.NoFileExists(t, filepath.Join(s.dir, one, conversationFile))

	looks := newSiteWith(t, Options{Token: token, NoToken: true})
	looks.create(one, nil)
	require.Equal(t, "read_only", looks.post(403, api(one)+"/phases", phase, looks.own()...))
	none := newSiteWith(t, Options{NoToken: true, Write: true})
	none.create(one, nil)
	require.Equal(t, "token", none.post(403, api(one)+"/phases", phase, none.own(TokenHeader, "")...), "no token is no token that fits")
}

// TestResumeStartsACommand starts one for a session that can be resumed, and no
// second while it runs.
func TestResumeStartsACommand(t *testing.T) {
	t.Parallel()
	sh, err := os.Stat("/bin/sh")
	testenv.Need(t, err == nil && !sh.IsDir(), "no shell")
	told := filepath.Join(t.TempDir(), "told")
	s := newSiteWith(t, Options{Token: token, NoToken: true, Resume: []string{"/bin/sh", "-c", `cat > "$0.part"; echo "$SESSION_ID $NEXT_PHASE_ID $1" >> "$0.part"; mv "$0.part" "$0"; exec sleep 3600`, told}})
	s.create(one, nil)
	require.Equal(t, "conflict", s.post(409, api(one)+"/resume", "", s.own()...))
	s.phase(one, workflow.PhaseOutput{PhaseID: "plan", Status: "completed", UserInput: new("question"), Output: new("answer")})
	require.Equal(t, "token", s.post(403, api(one)+"/resume", "", "Origin", s.url))
	require.Equal(t, "other_origin", s.post(403, api(one)+"/resume", "", TokenHeader, token))
	require.Empty(t, s.post(200, api(one)+"/resume", "", s.own()...))
	require.Equal(t, "running", s.post(409, api(one)+"/resume", "", s.own()...))
	require.Equal(t, "not_found", s.post(404, api(two)+"/resume", "", s.own()...))
	var got []byte
	for got, err = os.ReadFile(told); err != nil; got, err = os.ReadFile(told) {
		require.NoError(t, t.Context().Err())
		time.Sleep(5 * time.Millisecond)
	}
	require.Contains(t, string(got), `"next_phase_id":"gather"`)
	require.Contains(t, string(got), `"content":"answer"`)
	require.Contains(t, string(got), one+" gather "+one+"\n")
	s.stop() // ends the command, and waits
}

// TestCommandGetsAnID starts a command for ids that look like flags: it gets each as an argument, at its end.
func TestCommandGetsAnID(t *testing.T) {
	t.Parallel()
	sh, err := os.Stat("/bin/sh")
	testenv.Need(t, err == nil && !sh.IsDir(), "no shell")
	for id, want := range map[string]string{"-rf": "--\n-rf\n", "--help": "--\n--help\n", "$(x) *": "$(x) *\n", one: one + "\n"} {
		told := filepath.Join(t.TempDir(), "told")
		c := &commands{args: []string{"/bin/sh", "-c", `printf '%s\n' "$@" >"$0"`, told}, logger: slog.New(slog.DiscardHandler)}
		require.NoError(t, c.start(t.Context(), "dir", id, workflow.ResumeResult{}))
		c.wait.Wait()
		got, err := os.ReadFile(told)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	t.Parallel()
	c := &commands{args: []string{filepath.Join(t.TempDir(), "nothing")}, logger: slog.New(slog.DiscardHandler)}
	require.ErrorContains(t, c.start(t.Context(), "dir", one, workflow.ResumeResult{}), "did not start")
	require.Empty(t, c.running)
	c.close()
	require.ErrorIs(t, c.start(t.Context(), "dir", one, workflow.ResumeResult{}), errBusy)
}

// TestDecisions shows what an agent's state and a workflow's checkpoint tell.
func TestDecisions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil)
	require.JSONEq(t, `{"rows": []}`, s.get(200, api(one)+"/decisions"))
	require.JSONEq(t, `{"total": 0, "rows": []}`, s.get(200, api(one)+"/conversation"))
	require.Regexp(t, `id="tab-decisions"[^>]* hidden>`, s.get(200, page(one)))
	require.Regexp(t, `id="tab-conversation"[^>]* hidden>`, s.get(200, page(one)))
	ctx := t.Context()
	state, err := agentstate.Open(s.store, one, nil)
	require.NoError(t, err)
	require.NoError(t, state.KeepPending(ctx, "call-1", json.RawMessage(`{"tool": "shell"}`)))
	require.NoError(t, state.AddApprovedCommand(ctx, "go test"))
	require.NoError(t, state.Close())
	made, err := checkpoint.New(nil).Create(ctx, t.TempDir(), checkpoint.Setup{Chapters: 3})
	require.NoError(t, err)
	require.NoError(t, made.Approve(ctx, 3, checkpoint.Approval{Feedback: new("too long"), ChangesRequested: []string{"shorter"}}))
	require.NoError(t, made.Decide(ctx, map[string]any{"format": attack}))
	data, err := os.ReadFile(filepath.Join(made.Dir(), checkpointFile))
	require.NoError(t, err)
	s.write(one, checkpointFile, string(data))
	var got struct{ Rows []decision }
	s.json(api(one)+"/decisions", &got)
	for i := range got.Rows {
		require.Equal(t, i > 1, got.Rows[i].Time != "")
		got.Rows[i].Time = ""
	}
	require.Equal(t, []decision{
		{"pending", "", "call-1", `{"tool": "shell"}`},
		{"approved command", "", "", "go test"},
		{"refused", "", "phase 3", "too long"},
		{"change requested", "", "phase 3", "shorter"},
	}, got.Rows[:4])
	require.Equal(t, "decision", got.Rows[4].Kind)
	require.Contains(t, got.Rows[4].Text, `"format": "<script>alert`)
	require.NotRegexp(t, `id="tab-decisions"[^>]* hidden>`, s.get(200, page(one)))

	s.write(one, "pending_approvals.json", "{")
	s.write(one, checkpointFile, "{")
	var damaged struct {
		Rows   []decision
		Damage string
	}
	s.json(api(one)+"/decisions", &damaged)
	require.NotEmpty(t, damaged.Damage)
	require.Equal(t, []decision{{"approved command", "", "", "go test"}}, damaged.Rows)
}

// TestConversation shows the last messages, also beside damage.
func TestConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.create(one, nil)
	for range maxSaid {
		_, err := s.log.AddMessage(t.Context(), one, nil, "user", "a")
		require.NoError(t, err)
	}
	_, err := s.log.AddMessage(t.Context(), one, new("plan"), "assistant", long(2*maxRecord))
	require.NoError(t, err)
	s.write(one, conversationFile, s.read(one, conversationFile)+"damage\n")
	var got struct {
		Total  int
		Rows   []said
		Damage string
	}
	s.json(api(one)+"/conversation", &got)
	require.Equal(t, maxSaid+1, got.Total)
	require.Len(t, got.Rows, maxSaid)
	last := got.Rows[maxSaid-1]
	require.Equal(t, "plan", *last.PhaseID)
	require.Less(t, len(last.Content), maxRecord+10)
	require.NotEmpty(t, last.HTML)
	require.Contains(t, got.Damage, "line 202")
	require.NotRegexp(t, `id="tab-conversation"[^>]* hidden>`, s.get(200, page(one)))
}
