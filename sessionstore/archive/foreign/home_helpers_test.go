package foreign

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// away is a session that is exported to a tool and goes on there.
type away struct {
	t    *testing.T
	p    *projects.Projects
	st   *sessionstore.Store
	id   string
	tool Tool
	home string // of the tool
	path string // of the session's file there
	n    int    // of what was said there
}

// native are the rows of a session that a host wrote here: a file cannot hold all of
// them. They are written otherwise than Python writes them.
var native = []string{
	`{"role":"user","content":"Look at it.","metadata":{"timestamp":"2026-03-04T10:00:00.000+00:00","turn_id":"t1"}}`,
	`{"role":"assistant","content":[{"type":"thinking","thinking":"I think.","signature":"s1"},{"type":"text","text":"I look."}],"tool_calls":[{"id":"c1","tool":"look","arguments":{"at":"it","n":[1,2]}}]}`,
	`{"role":"tool","name":"look","tool_call_id":"c1","content":"seen"}`,
	`{"role":"assistant","content":[{"type":"text","text":"It is fine."}],"thinking_text":"Done, I think."}`,
	`{"role":"user","content":"<system-reminder>\nBe kind.\n</system-reminder>"}`,
	`{"role":"user","content":[{"type":"text","text":"And this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"}}]}`,
	`{"role":"assistant","content":"This is a picture.","metadata":{"timestamp":"2026-03-04T10:01:00.000+00:00"}}`,
}

// newAway returns the session id of a store, made of rows where there are some.
func newAway(t *testing.T, p *projects.Projects, id string, tool Tool, rows ...string) *away {
	t.Helper()
	st, err := p.Store("-w")
	require.NoError(t, err)
	a := &away{t: t, p: p, st: st, id: id, tool: tool, home: t.TempDir()}
	if len(rows) > 0 {
		md := sessionstore.Metadata{}
		for _, m := range [][2]any{{"session_id", id}, {"created", "2026-03-04T10:00:00+00:00"}, {"working_dir", "/w"}, {"name", "Mine"}, {"model", "our-model"}, {"turn_count", 2}, {"bundle", "b"}} {
			require.NoError(t, md.Set(m[0].(string), m[1]))
		}
		require.NoError(t, st.Save(t.Context(), id, nil, md))
		require.NoError(t, os.WriteFile(a.file("transcript.jsonl"), []byte(strings.Join(rows, "\n")+"\n"), 0o600))
	}
	return a
}

func (a *away) file(name string) string { return filepath.Join(a.st.Dir(), a.id, name) }

// say adds a turn here.
func (a *away) say(text string) {
	a.t.Helper()
	for _, role := range []string{"user", "assistant"} {
		m, err := sessionstore.Text(role, text+" by the "+role, time.Date(2026, 3, 5, 10, 0, 0, 0, time.UTC))
		require.NoError(a.t, err)
		require.NoError(a.t, a.st.Append(a.t.Context(), a.id, m))
	}
}

// export writes the session where the tool looks for it.
func (a *away) export() {
	a.t.Helper()
	var b bytes.Buffer
	done, err := exportLines(a.t, a.st, a.id, a.tool, &b, nil)
	require.NoError(a.t, err)
	if a.tool == OpenCode {
		h := &openCodeHome{a.t, a.home, a.p}
		if _, err := os.Stat(h.path()); err != nil {
			h.makeTables()
		}
		h.take(packOf(a.t, b.String()))
		a.path = filepath.Join(h.path(), done.ID+".jsonl")
		return
	}
	place, err := programs[string(a.tool)].Place("/w", done.File)
	require.NoError(a.t, err)
	a.path = filepath.Join(a.home, place)
	require.NoError(a.t, os.MkdirAll(filepath.Dir(a.path), 0o700))
	require.NoError(a.t, os.WriteFile(a.path, b.Bytes(), 0o600))
}

// thread returns the tool's id of the session.
func (a *away) thread() string {
	name := strings.TrimSuffix(filepath.Base(a.path), ".jsonl")
	if a.tool == Copilot {
		name = filepath.Base(filepath.Dir(a.path))
	}
	if a.tool == OpenCode {
		return name
	}
	return name[len(name)-36:]
}

// goOn adds a turn to the file of the tool, as the tool does.
func (a *away) goOn(text string) {
	a.t.Helper()
	a.add(a.turn(text, a.leaf()))
}

func (a *away) add(lines string) {
	a.t.Helper()
	if a.tool == OpenCode {
		head, _, _ := strings.Cut(original(a.t, a.path), "\n")
		(&openCodeHome{a.t, a.home, a.p}).take(packOf(a.t, head+"\n"+lines))
		return
	}
	require.NoError(a.t, os.WriteFile(a.path, []byte(original(a.t, a.path)+lines), 0o600))
}

// leaf returns the uuid of the last record of Claude Code.
func (a *away) leaf() (uuid string) {
	for row := range strings.Lines(original(a.t, a.path)) {
		uuid = cmp.Or(uuidIn(row), uuid)
	}
	return uuid
}

// turn returns the lines of a turn that follows the record parent.
func (a *away) turn(text, parent string) string {
	a.n++
	at := fmt.Sprintf("2026-11-25T%02d:%02d:00.000Z", a.n/60, a.n%60)
	if a.tool == Codex {
		item := `{"timestamp":"%s","type":"response_item","payload":{"type":"message","id":"msg_%d","role":"%s","content":[{"type":"%s_text","text":"%s by the %s"}]}}` + "\n"
		return fmt.Sprintf(`{"timestamp":"%s","type":"turn_context","payload":{"cwd":"/w","model":"their-model"}}`+"\n", at) +
			fmt.Sprintf(item, at, a.n, "user", "input", text, "user") +
			fmt.Sprintf(`{"timestamp":"%s","type":"event_msg","payload":{"type":"user_message","message":"%s by the user","images":[]}}`+"\n", at, text) +
			fmt.Sprintf(item, at, a.n, "assistant", "output", text, "assistant") +
			fmt.Sprintf(`{"timestamp":"%s","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":7,"total_tokens":%d},"last_token_usage":{"input_tokens":100,"output_tokens":7,"total_tokens":107}}}}`+"\n", at, 100*a.n, 100*a.n+7)
	}
	if a.tool == Copilot {
		id := func(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n, a.n) }
		event := `{"type":"%s","data":%s,"id":"%s","timestamp":"%s","parentId":"%s"}` + "\n"
		return fmt.Sprintf(event, "session.resume", `{"resumeTime":"`+at+`","selectedModel":"their-model"}`, id(1), at, parent) +
			fmt.Sprintf(event, "user.message", fmt.Sprintf(`{"content":"%s by the user","transformedContent":"now: %[1]s by the user","delivery":"idle"}`, text), id(2), at, id(1)) +
			fmt.Sprintf(event, "session.usage_record", `{"usage":{"model":"their-model","inputTokens":100,"outputTokens":7,"cacheReadTokens":0,"cacheWriteTokens":0}}`, id(3), at, id(2)) +
			fmt.Sprintf(event, "assistant.message", fmt.Sprintf(`{"messageId":"m%d","model":"their-model","content":"%s by the assistant","toolRequests":[]}`, a.n, text), id(4), at, id(3)) +
			fmt.Sprintf(event, "session.shutdown", `{"shutdownType":"routine"}`, id(5), at, id(4))
	}
	if a.tool == Pi {
		item := `{"type":"message","id":"%08x","parentId":"%s","timestamp":"%s","message":{"role":"%s","content":[{"type":"text","text":"%s by the %[4]s"}]%[6]s}}` + "\n"
		return fmt.Sprintf(item, 2*a.n, parent, at, "user", text, "") +
			fmt.Sprintf(item, 2*a.n+1, fmt.Sprintf("%08x", 2*a.n), at, "assistant", text, `,"model":"their-model","usage":{"input":100,"output":7},"stopReason":"stop"`)
	}
	if a.tool == OpenCode {
		item := `{"type":"message","id":"msg_%04d","time":%d,"data":{"role":"%s","time":{"created":%[2]d%[6]s},"modelID":"their-model"%[5]s},"parts":[{"id":"prt_%04[1]d","data":{"type":"text","text":"%[4]s by the %[3]s"}}]}` + "\n"
		ms := (&openCodeHome{a.t, a.home, a.p}).last(a.thread()) + 1000
		return fmt.Sprintf(item, 2*a.n, ms, "user", text, "", "") +
			fmt.Sprintf(item, 2*a.n+1, ms+1, "assistant", text, `,"tokens":{"input":100,"output":7,"reasoning":0,"cache":{"read":0,"write":0}}`, fmt.Sprintf(`,"completed":%d`, ms+1))
	}
	ask, answer := fmt.Sprintf("%s-ask-%d", a.thread(), a.n), fmt.Sprintf("%s-answer-%d", a.thread(), a.n)
	return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"cwd":"/w","sessionId":%q,"timestamp":"%s","message":{"role":"user","content":"%s by the user"}}`+"\n", ask, parent, a.thread(), at, text) +
		fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":%q,"cwd":"/w","sessionId":%q,"timestamp":"%s","requestId":"r%d","message":{"id":"m%[5]d","model":"their-model","role":"assistant","content":[{"type":"text","text":"%[6]s by the assistant"}],"usage":{"input_tokens":100,"output_tokens":7}}}`+"\n", answer, ask, a.thread(), at, a.n, text) +
		`{"type":"mode","mode":"normal"}` + "\n"
}

// back imports what the tool has, and once more, which changes no byte.
func (a *away) back() (sessions []Imported) {
	a.t.Helper()
	sessions = a.run(nil)
	before := tree(a.t, a.p.Dir())
	for _, s := range a.run(nil) {
		require.Equal(a.t, Unchanged, s.Action)
	}
	require.Equal(a.t, before, tree(a.t, a.p.Dir()))
	return sessions
}

func (a *away) run(o *Options) (sessions []Imported) {
	a.t.Helper()
	all, err := Find(a.t.Context(), a.tool, &FindOptions{Home: a.home})
	require.NoError(a.t, err)
	for _, h := range all {
		report, err := Import(a.t.Context(), a.p, h, o)
		require.NoError(a.t, err)
		sessions = append(sessions, report.Sessions...)
	}
	return sessions
}

// rows returns the lines of a session's transcript.
func (a *away) rows(id string) string {
	a.t.Helper()
	return original(a.t, filepath.Join(a.st.Dir(), id, "transcript.jsonl"))
}

// said returns what was said in a session since its first n messages.
func (a *away) said(id string, n int) (said []string) {
	a.t.Helper()
	for _, m := range healthy(a.t, a.st, id)[n:] {
		said = append(said, m.Content())
	}
	return said
}

// all returns the ids of all sessions.
func (a *away) all() (ids []string) {
	a.t.Helper()
	infos, err := a.st.List(a.t.Context(), &sessionstore.ListOptions{All: true})
	require.NoError(a.t, err)
	for _, s := range infos {
		ids = append(ids, s.ID)
	}
	return ids
}

// both are the messages of turns of both tools.
func both(turns ...string) (said []string) {
	for _, text := range turns {
		said = append(said, text+" by the user", text+" by the assistant")
	}
	return said
}
