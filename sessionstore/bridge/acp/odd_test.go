package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	proto "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
)

// TestBadPromptEndsNothing refuses a prompt that it cannot take, and leaves an interrupted turn as it is.
func TestBadPromptEndsNothing(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{})
	id := c.begin(t, cwd)
	st := stored(t, dir, cwd)
	row, err := sessionstore.Text("user", "ask", time.Now())
	require.NoError(t, err)
	left, err := turn.Begin(t.Context(), st, string(id), row, nil)
	require.NoError(t, err)
	require.NoError(t, left.Say("half"))
	require.NoError(t, left.Close())
	before := files(t, dir)
	for _, bad := range [][]proto.ContentBlock{{}, text(""), text("<system-reminder>x"), {proto.AudioBlock("x", "audio/wav")}} {
		_, err := c.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: bad})
		code, message := refused(t, err)
		require.Equal(t, -32602, code, message)
	}
	require.Equal(testenv.Lost(t), before, files(t, dir))
}

// TestPiecesOfACharacter says an answer byte by byte: the client gets whole characters.
func TestPiecesOfACharacter(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	const said = "a€😀ü"
	c := connect(t, dir, &tester{Sessions: Sessions{Follow: true}, answer: func(_ context.Context, tn *Turn) (proto.StopReason, error) {
		what := said
		if tn.Prompt.Content() == "invalid" {
			what = "x\xffy\xf0\x9f"
		}
		var err error
		for i := range len(what) {
			err = errors.Join(err, tn.Say(what[i:i+1]))
		}
		return "", err
	}})
	id := c.begin(t, cwd)
	c.say(t, id, "go")
	got := ""
	for _, line := range c.take() {
		got += strings.TrimPrefix(strings.TrimPrefix(line, "agent: "), "title: go")
	}
	require.Equal(t, said, got)
	c.say(t, id, "invalid")
	for _, line := range c.take() {
		require.NotContains(t, line, "x\ufffd", "its own row")
	}
}

// TestDeleteOfTheOpenOne deletes a session whose id another project has, too.
func TestDeleteOfTheOpenOne(t *testing.T) {
	t.Parallel()
	dir, a, b := realDir(t), realDir(t), realDir(t)
	if sessionstore.ProjectSlug(a) > sessionstore.ProjectSlug(b) {
		a, b = b, a
	}
	c := connect(t, dir, &tester{})
	id := c.begin(t, b)
	c.say(t, id, "hello")
	md, err := sessionstore.NewMetadata(map[string]any{"working_dir": a})
	require.NoError(t, err)
	require.NoError(t, stored(t, dir, a).Create(t.Context(), string(id), md))
	_, err = c.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: id})
	require.NoError(t, err)
	require.True(testenv.Lost(t), stored(t, dir, a).Exists(string(id)))
	require.False(t, stored(t, dir, b).Exists(string(id)))
	_, err = c.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: "gone"})
	require.NoError(t, err)
	two := connect(t, dir, &tester{})
	require.NoError(t, stored(t, dir, b).Create(t.Context(), string(id), md))
	_, err = two.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: id})
	_, message := refused(t, err)
	require.Contains(t, message, "Ambiguous")
	require.True(testenv.Lost(t), stored(t, dir, a).Exists(string(id)))
	require.True(testenv.Lost(t), stored(t, dir, b).Exists(string(id)))
}

// TestDeleteOfARunningOne refuses to delete a session that another agent answers in.
func TestDeleteOfARunningOne(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	goOn := make(chan bool)
	one := connect(t, dir, &tester{Sessions: Sessions{Name: "first"}, answer: func(_ context.Context, tn *Turn) (proto.StopReason, error) {
		err := tn.Say("I begin")
		<-goOn
		return "", err
	}})
	id := one.begin(t, cwd)
	done := make(chan proto.StopReason)
	go func() { done <- one.say(t, id, "go") }()
	one.wait(t, "agent: I begin")
	two := connect(t, dir, &tester{})
	_, err := two.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: id})
	_, message := refused(t, err)
	require.Contains(t, message, "first")
	_, err = two.UnstableForkSession(t.Context(), proto.UnstableForkSessionRequest{SessionId: id, Cwd: cwd})
	require.NoError(t, err)
	close(goOn)
	require.Equal(t, proto.StopReasonEndTurn, <-done)
}

// raw serves a client that writes lines, which may be several, and reads the next answer to a
// request. It has begun the session id of the directory cwd.
func raw(t *testing.T, a Agent) (answer func(lines string) string, id, cwd string) {
	t.Helper()
	cwd = realDir(t)
	all, err := projects.Open(realDir(t), nil)
	require.NoError(t, err)
	a.sessions().Projects = all
	ar, cw := io.Pipe()
	cr, aw := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(context.WithoutCancel(t.Context()), a, ar, aw) }()
	t.Cleanup(func() {
		require.NoError(t, cw.Close())
		go func() { _, _ = io.Copy(io.Discard, cr) }()
		require.NoError(t, <-served)
		require.NoError(t, all.Close())
	})
	out := bufio.NewReader(cr)
	answer = func(lines string) string {
		_, err := io.WriteString(cw, lines+"\n")
		require.NoError(t, err)
		for {
			got, err := out.ReadString('\n')
			require.NoError(t, err, lines)
			if strings.Contains(got, `"id":`) {
				return got
			}
		}
	}
	made := answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, cwd))
	var r struct{ Result struct{ SessionId string } }
	require.NoError(t, json.Unmarshal([]byte(made), &r))
	return answer, r.Result.SessionId, cwd
}

// canceller is an agent that tells of each cancel that was handled.
type canceller struct {
	*tester
	handled chan struct{}
}

func (c canceller) Cancel(ctx context.Context, n proto.CancelNotification) error {
	defer func() { c.handled <- struct{}{} }()
	return c.tester.Cancel(ctx, n)
}

// TestCancelAtOnce sends a cancel right after its prompt: it ends this turn, and no later one. Nor
// does a prompt that is refused make the agent wait.
func TestCancelAtOnce(t *testing.T) {
	t.Parallel()
	a := canceller{&tester{}, make(chan struct{}, 1)}
	a.answer = func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		if tn.Prompt.Content() == "slow" {
			a.handled <- <-a.handled
		}
		return "", ctx.Err()
	}
	answer, id, _ := raw(t, a)
	prompt := func(text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, id, text)
	}
	cancel := fmt.Sprintf("\n"+`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id)
	for range 50 {
		require.Contains(t, answer(prompt("slow")+cancel), `"cancelled"`)
		<-a.handled
		require.Contains(t, answer(prompt("next")), `"end_turn"`)
	}
	for _, bad := range []string{
		`"method":"session/prompt"`, `"method":"session/prompt","params":{}`, `"method":"session/prompt","params":{"prompt":[7]}`,
		`"method":"session/prompt","params":{"sessionId":"x","prompt":[]}`, `"method":"session/prompt","params":{"sessionId":"x","prompt":[]},"error":null`,
	} {
		require.Contains(t, answer(`{"jsonrpc":"2.0","id":3,`+bad+"}"), `"error"`)
	}
	for _, dropped := range []string{ // by the SDK, which answers nothing to them
		`{"jsonrpc":2,"id":4,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}`, `{"id":4,"method":"session/prompt"`, "",
		`{"id":4,"method":"session/prompt","params":{"sessionId":"x","prompt":[]},"error":7}`, `{"id":null,"method":"session/prompt","params":{"sessionId":"x","prompt":[]}}`,
	} {
		require.Contains(t, answer(dropped+"\n"+prompt("next")), `"end_turn"`)
	}
}

// TestManyLines writes 180 lines before it reads an answer: prompts, refused ones too, and cancels, of
// two sessions and of an unknown one. Each prompt gets its answer, and the agent goes on.
func TestManyLines(t *testing.T) {
	t.Parallel()
	a := &tester{answer: echo}
	a.Wait = true
	answer, one, cwd := raw(t, a)
	type answered struct {
		ID     int
		Result struct{ SessionId, StopReason string }
	}
	parsed := func(line string) (r answered) {
		require.NoError(t, json.Unmarshal([]byte(line), &r), line)
		return r
	}
	two := parsed(answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, cwd))).Result.SessionId
	var lines strings.Builder
	const prompts = 60
	for i := range prompts {
		id, text := []string{one, two, "unknown"}[i%3], []string{"hello", "<system-reminder>"}[i%2]
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", id)
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`+"\r\n\n", 2+i, id, text)
	}
	seen := map[int]bool{}
	for line := answer(lines.String()); ; line = answer("") {
		got := parsed(line)
		require.False(t, seen[got.ID])
		if seen[got.ID] = true; len(seen) == prompts {
			break
		}
	}
	got := answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, two, strings.Repeat("x", 1<<20)))
	require.Contains(t, got, "end_turn")
}

// TestRawLines sends what no client of the SDK sends: each request gets an answer, and the agent goes on.
func TestRawLines(t *testing.T) {
	t.Parallel()
	answer, id, cwd := raw(t, &tester{answer: echo})
	for _, params := range []string{
		`null`, `{}`, `[]`, `"x"`, `{"sessionId":null}`, `{"sessionId":1}`, fmt.Sprintf(`{"sessionId":%q}`, id), fmt.Sprintf(`{"sessionId":%q,"prompt":null}`, id),
		fmt.Sprintf(`{"sessionId":%q,"prompt":[null]}`, id), fmt.Sprintf(`{"sessionId":%q,"prompt":[{}]}`, id), fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text"}]}`, id),
		fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"image"}]}`, id), fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"resource"}]}`, id), fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"resource","resource":{}}]}`, id),
		fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"resource","resource":{"uri":"x","blob":"eA=="}}]}`, id), fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"resource_link"}]}`, id), fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"zzz"}]}`, id),
		fmt.Sprintf(`{"sessionId":%q,"cwd":null}`, id), fmt.Sprintf(`{"sessionId":%q,"cwd":5}`, id), fmt.Sprintf(`{"sessionId":%q,"cwd":%q}`, id, cwd), `{"cursor":"nan"}`, `{"cursor":"1e999"}`,
	} {
		for _, method := range []string{"session/prompt", "session/load", "session/resume", "session/list", "session/fork", "session/delete", "session/close", "session/set_mode", "session/set_config_option", "initialize", "authenticate", "logout", "x/y"} {
			if method == "session/delete" && strings.Contains(params, id) || method == "session/close" && strings.Contains(params, id) {
				continue
			}
			got := answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q,"params":%s}`, method, params))
			if method == "session/prompt" && !strings.Contains(params, "resource") && !strings.Contains(params, `"image"`) {
				require.Contains(t, got, `"error":`, method+params)
			}
		}
	}
	got := answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"hello"}]}}`, id))
	require.Contains(t, got, "end_turn")
}

// TestDeleteOfAGoneOne deletes an open session that another program deleted.
func TestDeleteOfAGoneOne(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{Sessions: Sessions{Follow: true}})
	id := c.begin(t, cwd)
	require.NoError(t, stored(t, dir, cwd).Delete(t.Context(), string(id)))
	_, err := c.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text("hello")})
	code, _ := refused(t, err)
	require.Equal(t, -32002, code)
	_, err = c.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: id})
	require.NoError(t, err)
}

// TestSayAfterTheTurn says something once the turn has ended: the client does not get what is not stored.
func TestSayAfterTheTurn(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	var left *Turn
	c := connect(t, dir, &tester{answer: func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		left = tn
		return echo(ctx, tn)
	}})
	id := c.begin(t, cwd)
	c.say(t, id, "go")
	c.take()
	require.ErrorIs(t, left.Say("late"), sessionstore.ErrClosed)
	require.ErrorIs(t, left.Step(t.Context(), calling("", sessionstore.ToolCall{ID: "c", Name: "shell"})), sessionstore.ErrClosed)
	require.Len(t, c.load(t, id, cwd), 2)
}

// TestHugeCall asks about a call with arguments that no line takes.
func TestHugeCall(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{answer: func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		call := sessionstore.ToolCall{ID: "c", Name: "write", Arguments: []byte(`{"text": "` + strings.Repeat("x", 11<<20) + `"}`)}
		if err := tn.Step(ctx, calling("", call)); err != nil {
			return "", err
		}
		_, err := tn.Call(ctx, call, func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) {
			return sessionstore.ToolResult("c", "write", "done", time.Now())
		})
		return "", err
	}})
	c.permit = choose("once")
	id := c.begin(t, cwd)
	c.say(t, id, "go")
	c.say(t, id, "again")
}

// TestNoTool calls a tool that does not exist: the model reads that, and the agent goes on.
func TestNoTool(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{answer: func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		call := sessionstore.ToolCall{ID: "c", Name: "fly"}
		if err := tn.Step(ctx, calling("", call)); err != nil {
			return "", err
		}
		row, err := tn.Call(ctx, call, nil)
		return "", errors.Join(err, tn.Say(row.Content()))
	}})
	c.permit = choose("once")
	id := c.begin(t, cwd)
	c.say(t, id, "go")
	require.Contains(t, c.take(), "call c: failed Error: there is no such tool")
}
