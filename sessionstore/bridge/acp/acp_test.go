package acp

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	proto "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/trash"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice"
)

// realDir returns a directory without symlinks.
func realDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

// TestEditor goes the way of an editor: it begins, asks, closes, lists, loads, goes on, forks
// and deletes, each in a new process of the agent.
func TestEditor(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	one := connect(t, dir, &tester{})
	hello, err := one.Initialize(t.Context(), proto.InitializeRequest{ProtocolVersion: 99})
	require.NoError(t, err)
	require.EqualValues(t, 1, hello.ProtocolVersion)
	can := hello.AgentCapabilities
	require.True(t, can.LoadSession)
	require.False(t, can.PromptCapabilities.Image)
	for _, served := range []bool{can.SessionCapabilities.Close != nil, can.SessionCapabilities.Delete != nil, can.SessionCapabilities.Fork != nil, can.SessionCapabilities.List != nil, can.SessionCapabilities.Resume != nil} {
		require.True(t, served)
	}
	require.Nil(t, can.SessionCapabilities.AdditionalDirectories)

	id := one.begin(t, cwd)
	require.Equal(t, proto.StopReasonEndTurn, one.say(t, id, "rain?"))
	require.Equal(t, []string{"title: rain?", "agent: You said rain?"}, one.take())
	one.say(t, id, "snow?")
	require.Equal(t, []string{"agent: You said snow?"}, one.take(), "the title is the same")

	two := connect(t, dir, &tester{})
	list, err := two.ListSessions(t.Context(), proto.ListSessionsRequest{Cwd: &cwd})
	require.NoError(t, err)
	require.Len(t, list.Sessions, 1)
	require.Equal(t, id, list.Sessions[0].SessionId)
	require.Equal(t, cwd, list.Sessions[0].Cwd)
	require.Equal(t, "rain?", *list.Sessions[0].Title)
	at, err := time.Parse(time.RFC3339, *list.Sessions[0].UpdatedAt)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Hour)
	require.Nil(t, list.NextCursor)

	talk := []string{"user: rain?", "agent: You said rain?", "user: snow?", "agent: You said snow?"}
	require.Equal(t, talk, two.load(t, id, cwd), "all of it is there before the answer")

	three := connect(t, dir, &tester{})
	_, err = three.ResumeSession(t.Context(), proto.ResumeSessionRequest{SessionId: id, Cwd: cwd})
	require.NoError(t, err)
	require.Empty(t, three.take())
	fork, err := three.UnstableForkSession(t.Context(), proto.UnstableForkSessionRequest{SessionId: id, Cwd: cwd})
	require.NoError(t, err)
	three.say(t, fork.SessionId, "fog?")
	require.Equal(t, append(talk, "user: fog?", "agent: You said fog?"), two.load(t, fork.SessionId, cwd))
	require.Equal(t, talk, two.load(t, id, cwd))

	_, err = three.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: id})
	require.NoError(t, err)
	list, err = two.ListSessions(t.Context(), proto.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.Sessions, 1)
	require.Equal(t, fork.SessionId, list.Sessions[0].SessionId)
	receipts, err := trash.List(t.Context(), stored(t, dir, cwd))
	require.NoError(t, err)
	require.Len(testenv.Lost(t), receipts, 1, "it can be brought back")
	_, err = three.UnstableDeleteSession(t.Context(), proto.UnstableDeleteSessionRequest{SessionId: id})
	require.NoError(t, err, "what is gone is gone")
}

// TestListPages lists sessions that changed at the same time, page by page.
func TestListPages(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{})
	md, err := sessionstore.NewMetadata(map[string]any{"working_dir": cwd})
	require.NoError(t, err)
	want, st := map[proto.SessionId]bool{}, stored(t, dir, cwd)
	old := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range page + 60 {
		id := proto.SessionId(sessionstore.NewID())
		require.NoError(t, st.Create(t.Context(), string(id), md))
		want[id] = true
		at := old.Add(time.Duration(i/7) * time.Second)
		require.NoError(t, os.Chtimes(filepath.Join(dir, sessionstore.ProjectSlug(cwd), "sessions", string(id)), at, at))
	}
	got, pages := map[proto.SessionId]bool{}, 0
	var cursor *string
	for ; pages < 10; pages++ {
		list, err := c.ListSessions(t.Context(), proto.ListSessionsRequest{Cursor: cursor})
		require.NoError(t, err)
		require.Less(t, len(list.Sessions), page+7)
		for _, s := range list.Sessions {
			require.False(t, got[s.SessionId], "once")
			got[s.SessionId] = true
		}
		if cursor = list.NextCursor; cursor == nil {
			break
		}
	}
	require.Equal(t, want, got)
	require.Equal(t, 1, pages)
	_, err = c.ListSessions(t.Context(), proto.ListSessionsRequest{Cursor: proto.Ptr("x")})
	code, _ := refused(t, err)
	require.Equal(t, -32602, code)
}

// TestLoadShowsAll shows prompts, answers, thoughts, images, calls with their states and
// results, and a call without a result.
func TestLoadShowsAll(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	var picture bytes.Buffer
	require.NoError(t, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 2, 2))))
	data := base64.StdEncoding.EncodeToString(picture.Bytes())
	shown := "<image/png of " + strconv.Itoa(len(data)) + ">"
	write := func(_ context.Context, tn *Turn) (proto.StopReason, error) {
		for _, raw := range []string{
			`{"role": "assistant", "content": "I look.", "thinking_text": "Hm.", "tool_calls": [{"id": "c", "tool": "look", "arguments": {"at": "sky"}}, {"id": "d", "tool": "look", "arguments": {"n": NaN}}]}`,
			`{"role": "tool", "name": "look", "tool_call_id": "c", "content": "grey"}`,
			`{"role": "tool", "name": "look", "tool_call_id": "d", "content": "Error: blind"}`,
			`{"role": "user", "content": "<system-reminder>be brief</system-reminder>"}`,
			`{"role": "assistant", "content": [{"type": "text", "text": "Again."}, {"type": "tool_use", "id": "c", "name": "shot", "input": {"n": 1e999}}]}`,
			`{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + data + `"}}]}]}`,
			`{"role": "assistant", "content": "Last.", "tool_calls": [{"id": "e", "tool": "look", "arguments": {}}]}`,
		} {
			m, err := sessionstore.ParseMessage([]byte(raw))
			if err == nil {
				err = tn.Store.Append(context.Background(), tn.ID, m)
			}
			if err != nil {
				return "", err
			}
		}
		return proto.StopReasonEndTurn, nil
	}
	one := connect(t, dir, &tester{answer: write, Sessions: Sessions{Images: true}})
	id := one.begin(t, cwd)
	_, err := one.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: []proto.ContentBlock{
		proto.TextBlock("What is this?"), proto.ImageBlock(data, "image/png"), proto.ResourceLinkBlock("a.go", "file:///a.go"),
		proto.ResourceBlock(proto.EmbeddedResourceResource{TextResourceContents: &proto.TextResourceContents{Uri: "file:///b.go", Text: "package b\n"}}),
	}})
	require.NoError(t, err)
	require.Equal(t, []string{
		"user: What is this?\n[a.go](file:///a.go)\n<context ref=\"file:///b.go\">\npackage b\n</context>", "user: " + shown,
		"thought: Hm.", "agent: I look.", "call c: look map[at:sky] pending", `call d: look {"n": NaN} pending`,
		"call c: completed grey", "call d: failed Error: blind",
		"agent: Again.", `call c#2: shot {"n": 1e999} pending`, "call c#2: completed " + shown,
		"agent: Last.", "call e: look map[] pending", "call e: failed " + noResult,
	}, connect(t, dir, &tester{}).load(t, id, cwd))
}

// TestLongRows shows texts that no line of a client takes at once.
func TestLongRows(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	long := strings.Repeat("\x01", maxPiece-1) + "é, and more"
	one := connect(t, dir, &tester{answer: func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		row := calling("", sessionstore.ToolCall{ID: "c", Name: "look", Arguments: []byte(`{"x":"` + strings.Repeat("a", maxPiece+100) + `"}`)})
		return proto.StopReasonEndTurn, errors.Join(tn.Step(ctx, row), tn.Say(long))
	}})
	id := one.begin(t, cwd)
	one.say(t, id, "say much")
	got := ""
	for _, line := range one.take() {
		require.LessOrEqual(t, len(line), maxPiece+200)
		if s, ok := bytes.CutPrefix([]byte(line), []byte("agent: ")); ok {
			got += string(s)
		}
	}
	require.True(t, long == got)
	got = ""
	for _, line := range connect(t, dir, &tester{}).load(t, id, cwd) {
		if s, ok := bytes.CutPrefix([]byte(line), []byte("agent: ")); ok {
			got += string(s)
		}
	}
	require.True(t, long == got)
}

// TestLongSession shows more rows than the SDK's client has room for at once.
func TestLongSession(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	id := connect(t, dir, &tester{}).begin(t, cwd)
	var rows []sessionstore.Message
	for range 1_500 {
		for _, role := range []string{"user", "assistant"} {
			m, err := sessionstore.Text(role, "a", time.Now())
			require.NoError(t, err)
			rows = append(rows, m)
		}
	}
	require.NoError(t, stored(t, dir, cwd).Append(t.Context(), string(id), rows...))
	require.Len(t, connect(t, dir, &tester{}).load(t, id, cwd), len(rows))
}

// TestTitle sends a new title after the turn that gave it.
func TestTitle(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{answer: func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		_, _, err := tn.Store.SetName(ctx, tn.ID, sessionstore.Naming{Name: "Weather", Source: "generated"})
		return proto.StopReasonEndTurn, err
	}})
	c.say(t, c.begin(t, cwd), "rain?")
	require.Equal(t, []string{"title: rain?", "title: Weather"}, c.take())
}

// TestCancel ends a turn by cancel, by close and by the end of the connection: what it said is
// stored, and the stop reason is cancelled whatever the agent returns.
func TestCancel(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	c := connect(t, dir, &tester{answer: func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		err := tn.Say("I begin")
		<-ctx.Done()
		return proto.StopReasonEndTurn, errors.Join(err, errors.New("the model's connection was cut"))
	}})
	id := c.begin(t, cwd)
	for _, end := range []func() error{
		func() error { return c.Cancel(t.Context(), proto.CancelNotification{SessionId: id}) },
		func() error {
			_, err := c.CloseSession(t.Context(), proto.CloseSessionRequest{SessionId: id})
			return err
		},
	} {
		reason := make(chan proto.StopReason)
		go func() { reason <- c.say(t, id, "go") }()
		c.wait(t, "agent: I begin")
		require.NoError(t, end())
		require.Equal(t, proto.StopReasonCancelled, <-reason)
	}
	_, err := c.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text("go on")})
	code, message := refused(t, err)
	require.Equal(t, -32602, code)
	require.Contains(t, message, "load or resume it first")
	require.Equal(testenv.Lost(t), []string{"user: go", "agent: I begin", "user: go", "agent: I begin"}, c.load(t, id, cwd))
}

// TestPanic is a failure of one turn: the agent goes on.
func TestPanic(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	a := &tester{}
	a.answer = func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		if tn.Prompt.Content() == "panic" {
			_ = tn.Say("Oh")
			panic("Oh")
		}
		return echo(ctx, tn)
	}
	a.Describe = func(sessionstore.ToolCall, *proto.SessionUpdateToolCall) { panic("no") }
	c := connect(t, dir, a)
	id := c.begin(t, cwd)
	_, err := c.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text("panic")})
	_, message := refused(t, err)
	require.Equal(t, "the agent's Prompt panicked; its log has the place", message)
	c.say(t, id, "again")
	require.Equal(t, []string{"user: panic", "agent: Oh", "user: again", "agent: You said again"}, c.load(t, id, cwd))
}

// TestDefaults answers what an agent need not write.
func TestDefaults(t *testing.T) {
	t.Parallel()
	c := connect(t, realDir(t), &tester{})
	_, err := c.Authenticate(t.Context(), proto.AuthenticateRequest{MethodId: "x"})
	require.NoError(t, err)
	_, err = c.Logout(t.Context(), proto.LogoutRequest{})
	require.NoError(t, err)
	_, err = c.SetSessionMode(t.Context(), proto.SetSessionModeRequest{SessionId: "x", ModeId: "y"})
	_, message := refused(t, err)
	require.Equal(t, "this agent has no modes", message)
	_, err = c.SetSessionConfigOption(t.Context(), proto.SetSessionConfigOptionRequest{ValueId: &proto.SetSessionConfigOptionValueId{SessionId: "x", ConfigId: "y", Value: "z"}})
	_, message = refused(t, err)
	require.Equal(t, "this agent has no options", message)
}

// TestFollow shows a client what another one does, each row once and whole, and after a
// rewind that something changed.
func TestFollow(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	one, two := connect(t, dir, &tester{Sessions: Sessions{Follow: true}}), connect(t, dir, &tester{Sessions: Sessions{Follow: true}})
	three := connect(t, dir, &tester{})
	id := one.begin(t, cwd)
	require.Empty(t, two.load(t, id, cwd))
	require.Empty(t, three.load(t, id, cwd))
	one.say(t, id, "one")
	two.wait(t, "agent: You said one")
	two.say(t, id, "two")
	one.wait(t, "agent: You said two")
	one.say(t, id, "three")
	two.wait(t, "agent: You said three")
	require.Equal(t, []string{"title: one", "agent: You said one", "user: two", "agent: You said two", "agent: You said three"}, one.take())
	require.Equal(t, []string{"user: one", "agent: You said one", "agent: You said two", "user: three", "agent: You said three"}, without(two.take(), "title: one"))
	require.Empty(t, three.take(), "it does not follow")

	_, err := slice.RewindSessionTo(t.Context(), stored(t, dir, cwd), string(id), 1, slice.Complete)
	require.NoError(t, err)
	one.wait(t, "title: one")
	require.Equal(t, []string{"title: one"}, one.take())
	two.wait(t, "title: one")
	require.Equal(t, []string{"user: one", "agent: You said one"}, two.load(t, id, cwd))
	one.say(t, id, "four")
	require.Equal(t, []string{"agent: You said four"}, one.take())
	two.wait(t, "agent: You said four")
	_, _, err = stored(t, dir, cwd).SetName(t.Context(), string(id), sessionstore.Naming{Name: "Numbers", Source: "manual"})
	require.NoError(t, err)
	one.wait(t, "title: Numbers")
	two.wait(t, "title: Numbers")
}

// TestSymlink finds the sessions of a directory by each of its names.
func TestSymlink(t *testing.T) {
	t.Parallel()
	dir, cwd, link := realDir(t), realDir(t), filepath.Join(realDir(t), "link")
	require.NoError(t, os.Symlink(cwd, link))
	c := connect(t, dir, &tester{})
	id := c.begin(t, link)
	c.say(t, id, "hello")
	for _, name := range []string{cwd, link} {
		list, err := c.ListSessions(t.Context(), proto.ListSessionsRequest{Cwd: &name})
		require.NoError(t, err)
		require.Len(t, list.Sessions, 1)
		require.Equal(t, name, list.Sessions[0].Cwd)
		require.Len(t, c.load(t, id, name), 2)
	}
	require.DirExists(t, filepath.Join(dir, sessionstore.ProjectSlug(cwd), "sessions", string(id)))
}

// TestFollowDraft shows a client that loaded in the middle of an answer its rest.
func TestFollowDraft(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	goOn := make(chan bool)
	one := connect(t, dir, &tester{answer: func(_ context.Context, tn *Turn) (proto.StopReason, error) {
		err := errors.Join(tn.Think("Hm."), tn.Say("I begin"))
		<-goOn
		return "", errors.Join(err, tn.Say(" and end"))
	}})
	id := one.begin(t, cwd)
	first := make(chan proto.StopReason)
	go func() { first <- one.say(t, id, "go") }()
	st := stored(t, dir, cwd)
	require.Eventually(t, func() bool {
		d, err := turn.ReadDraft(t.Context(), st, string(id))
		return err == nil && d.Text == "I begin"
	}, time.Minute, 10*time.Millisecond)
	two := connect(t, dir, &tester{Sessions: Sessions{Follow: true}})
	require.Equal(t, []string{"user: go", "thought: Hm.", "agent: I begin"}, two.load(t, id, cwd))
	close(goOn)
	require.Equal(t, proto.StopReasonEndTurn, <-first)
	two.wait(t, "agent:  and end")
	require.Equal(t, []string{"agent:  and end"}, two.take())
	one.say(t, id, "I begin")
	two.wait(t, "agent: I begin and end")
}

// without returns the lines but those that are equal to one.
func without(lines []string, one string) (rest []string) {
	for _, line := range lines {
		if line != one {
			rest = append(rest, line)
		}
	}
	return rest
}

// TestSecondPrompt refuses a prompt while a turn runs, or lets it wait.
func TestSecondPrompt(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	goOn := make(chan bool)
	slow := func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		if err := tn.Say("I begin"); err != nil {
			return "", err
		}
		<-goOn
		if err := ctx.Err(); err != nil {
			return "", err
		}
		return proto.StopReasonEndTurn, tn.Say(" and end")
	}
	one := connect(t, dir, &tester{answer: slow, Sessions: Sessions{Name: "first"}})
	id := one.begin(t, cwd)
	first := make(chan proto.StopReason)
	go func() { first <- one.say(t, id, "go") }()
	one.wait(t, "agent: I begin")

	_, err := one.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text("second")})
	_, message := refused(t, err)
	require.Contains(t, message, "another turn of the session runs")
	_, err = one.LoadSession(t.Context(), proto.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []proto.McpServer{}})
	_, message = refused(t, err)
	require.Contains(t, message, "cancel it first")
	two := connect(t, dir, &tester{})
	require.Equal(t, []string{"user: go"}, two.load(t, id, cwd)[:1])
	_, err = two.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text("second")})
	_, message = refused(t, err)
	require.Contains(t, message, `"first" runs it`)

	three := connect(t, dir, &tester{Sessions: Sessions{Wait: true, Follow: true}})
	three.load(t, id, cwd)
	waited := make(chan proto.StopReason)
	go func() { waited <- three.say(t, id, "third") }()
	close(goOn)
	require.Equal(t, proto.StopReasonEndTurn, <-first, "the prompts that were refused ended no turn")
	require.Equal(t, proto.StopReasonEndTurn, <-waited)
	require.Equal(t, []string{"user: go", "agent: I begin and end", "user: third", "agent: You said third"}, two.load(t, id, cwd))
}

// TestPermission asks the client once, for good, or never, and keeps what it decided.
func TestPermission(t *testing.T) {
	t.Parallel()
	dir, cwd := realDir(t), realDir(t)
	ran := 0
	a := &tester{answer: func(ctx context.Context, tn *Turn) (proto.StopReason, error) {
		call := sessionstore.ToolCall{ID: "c", Name: "shell", Arguments: []byte(`{"command":"` + tn.Prompt.Content() + `"}`)}
		if err := tn.Step(ctx, calling("", call)); err != nil {
			return "", err
		}
		row, err := tn.Call(ctx, call, func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) {
			ran++
			return sessionstore.ToolResult("c", "shell", "done", time.Now())
		})
		if err != nil {
			return "", err
		}
		return proto.StopReasonEndTurn, tn.Say(row.Content())
	}}
	a.Asks = func(call sessionstore.ToolCall) bool { return string(call.Arguments) != `{"command": "ls"}` }
	a.Describe = func(call sessionstore.ToolCall, u *proto.SessionUpdateToolCall) {
		u.Title, u.Kind = "run "+string(call.Arguments), proto.ToolKindExecute
	}
	c := connect(t, dir, a)
	id := c.begin(t, cwd)
	asked := 0
	answer := func(option string) {
		c.permit = func(r proto.RequestPermissionRequest) proto.RequestPermissionResponse {
			asked++
			require.Equal(t, proto.ToolKindExecute, *r.ToolCall.Kind)
			require.Contains(t, *r.ToolCall.Title, "run ")
			return choose(option)(r)
		}
	}
	answer("once")
	c.say(t, id, "rm a")
	require.Equal(t, []int{1, 1}, []int{asked, ran})
	require.Equal(t, []string{
		"title: rm a", `call c: run {"command": "rm a"} map[command:rm a] pending`, "call c: in_progress", "call c: completed done", "agent: done",
	}, c.take())
	answer("reject")
	c.say(t, id, "rm a")
	require.Equal(t, []int{2, 1}, []int{asked, ran})
	require.Equal(t, `call c#2: run {"command": "rm a"} map[command:rm a] pending`, c.take()[0])
	answer("always")
	c.say(t, id, "rm b")
	c.say(t, id, "rm b")
	require.Equal(t, []int{3, 3}, []int{asked, ran})
	c.say(t, id, "ls")
	require.Equal(t, []int{3, 4}, []int{asked, ran})

	two := connect(t, dir, a) // a restart
	two.load(t, id, cwd)
	two.say(t, id, "rm b")
	require.Equal(t, []int{3, 5}, []int{asked, ran})

	two.permit = func(proto.RequestPermissionRequest) proto.RequestPermissionResponse {
		return proto.RequestPermissionResponse{Outcome: proto.NewRequestPermissionOutcomeCancelled()}
	}
	require.Equal(t, proto.StopReasonCancelled, two.say(t, id, "rm c"))
	require.Equal(t, 5, ran)
}
