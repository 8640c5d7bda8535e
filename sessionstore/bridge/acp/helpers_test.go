package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	proto "github.com/coder/acp-go-sdk"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"agent": childAgent})
}

// tester is the agent of the tests: answer is its Prompt.
type tester struct {
	Sessions
	answer func(ctx context.Context, t *Turn) (proto.StopReason, error)
}

func (a *tester) Prompt(ctx context.Context, t *Turn) (proto.StopReason, error) {
	return a.answer(ctx, t)
}

// client is an editor: it notes what it is shown.
type client struct {
	*proto.ClientSideConnection
	mu     sync.Mutex
	seen   []string
	new    chan string // each line that comes
	permit func(proto.RequestPermissionRequest) proto.RequestPermissionResponse
}

func (c *client) note(line string) {
	c.mu.Lock()
	c.seen = append(c.seen, line)
	c.mu.Unlock()
	select {
	case c.new <- line:
	default:
	}
}

// take returns what the client was shown since the last take.
func (c *client) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.seen
	c.seen = nil
	return seen
}

// wait waits for a line.
func (c *client) wait(t *testing.T, prefix string) string {
	t.Helper()
	for {
		select {
		case line := <-c.new:
			if strings.HasPrefix(line, prefix) {
				return line
			}
		case <-t.Context().Done():
			require.FailNow(t, "no line", "%s", prefix)
		}
	}
}

func (c *client) SessionUpdate(_ context.Context, n proto.SessionNotification) error {
	u := n.Update
	block := func(b proto.ContentBlock) string {
		if b.Image != nil {
			return fmt.Sprintf("<%s of %d>", b.Image.MimeType, len(b.Image.Data))
		}
		return b.Text.Text
	}
	content := func(all []proto.ToolCallContent) (text string) {
		for _, c := range all {
			text += " " + block(c.Content.Content)
		}
		return text
	}
	switch {
	case u.UserMessageChunk != nil:
		c.note("user: " + block(u.UserMessageChunk.Content))
	case u.AgentMessageChunk != nil:
		c.note("agent: " + block(u.AgentMessageChunk.Content))
	case u.AgentThoughtChunk != nil:
		c.note("thought: " + block(u.AgentThoughtChunk.Content))
	case u.ToolCall != nil:
		c.note(fmt.Sprintf("call %s: %s %v %s%s", u.ToolCall.ToolCallId, u.ToolCall.Title, u.ToolCall.RawInput, u.ToolCall.Status, content(u.ToolCall.Content)))
	case u.ToolCallUpdate != nil:
		c.note(fmt.Sprintf("call %s: %s%s", u.ToolCallUpdate.ToolCallId, *u.ToolCallUpdate.Status, content(u.ToolCallUpdate.Content)))
	case u.SessionInfoUpdate != nil:
		c.note("title: " + *u.SessionInfoUpdate.Title)
	default:
		c.note("?")
	}
	return nil
}

func (c *client) RequestPermission(_ context.Context, r proto.RequestPermissionRequest) (proto.RequestPermissionResponse, error) {
	if c.permit == nil {
		return proto.RequestPermissionResponse{}, errors.New("not asked for")
	}
	return c.permit(r), nil
}

func choose(option string) func(proto.RequestPermissionRequest) proto.RequestPermissionResponse {
	return func(proto.RequestPermissionRequest) proto.RequestPermissionResponse {
		return proto.RequestPermissionResponse{Outcome: proto.NewRequestPermissionOutcomeSelected(proto.PermissionOptionId(option))}
	}
}

func (c *client) ReadTextFile(context.Context, proto.ReadTextFileRequest) (r proto.ReadTextFileResponse, err error) {
	return
}

func (c *client) WriteTextFile(context.Context, proto.WriteTextFileRequest) (r proto.WriteTextFileResponse, err error) {
	return
}

func (c *client) CreateTerminal(context.Context, proto.CreateTerminalRequest) (r proto.CreateTerminalResponse, err error) {
	return
}

func (c *client) KillTerminal(context.Context, proto.KillTerminalRequest) (r proto.KillTerminalResponse, err error) {
	return
}

func (c *client) TerminalOutput(context.Context, proto.TerminalOutputRequest) (r proto.TerminalOutputResponse, err error) {
	return
}

func (c *client) ReleaseTerminal(context.Context, proto.ReleaseTerminalRequest) (r proto.ReleaseTerminalResponse, err error) {
	return
}

func (c *client) WaitForTerminalExit(context.Context, proto.WaitForTerminalExitRequest) (r proto.WaitForTerminalExitResponse, err error) {
	return
}

// connect returns a new client of a new agent over the sessions of dir. Their connection ends
// with the test.
func connect(t *testing.T, dir string, a *tester) *client {
	t.Helper()
	all, err := projects.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	a.Projects = all
	if a.answer == nil {
		a.answer = echo
	}
	ar, cw := io.Pipe()
	cr, aw := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- Serve(context.WithoutCancel(t.Context()), a, ar, aw) }()
	t.Cleanup(func() {
		require.NoError(t, cw.Close())
		require.NoError(t, <-served)
		require.NoError(t, aw.Close())
		require.NoError(t, all.Close())
	})
	return newClient(cw, cr)
}

// gate is a reader that waits until it is open: the SDK reads at once.
type gate struct {
	io.Reader
	open <-chan struct{}
}

func (g gate) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

func newClient(w io.Writer, r io.Reader) *client {
	c := &client{new: make(chan string, 1000)}
	connected := make(chan struct{})
	c.ClientSideConnection = proto.NewClientSideConnection(c, w, gate{r, connected})
	c.SetLogger(slog.New(slog.DiscardHandler))
	close(connected)
	return c
}

// echo answers with the prompt.
func echo(_ context.Context, t *Turn) (proto.StopReason, error) {
	return proto.StopReasonEndTurn, t.Say("You said " + t.Prompt.Content())
}

func text(s string) []proto.ContentBlock { return []proto.ContentBlock{proto.TextBlock(s)} }

func (c *client) begin(t *testing.T, cwd string) proto.SessionId {
	t.Helper()
	made, err := c.NewSession(t.Context(), proto.NewSessionRequest{Cwd: cwd, McpServers: []proto.McpServer{}})
	require.NoError(t, err)
	return made.SessionId
}

func (c *client) say(t *testing.T, id proto.SessionId, what string) proto.StopReason {
	t.Helper()
	answer, err := c.Prompt(t.Context(), proto.PromptRequest{SessionId: id, Prompt: text(what)})
	require.NoError(t, err)
	return answer.StopReason
}

func (c *client) load(t *testing.T, id proto.SessionId, cwd string) []string {
	t.Helper()
	c.take()
	_, err := c.LoadSession(t.Context(), proto.LoadSessionRequest{SessionId: id, Cwd: cwd, McpServers: []proto.McpServer{}})
	require.NoError(t, err)
	return c.take()
}

// refused returns the code and the message of an answer that is an error.
func refused(t *testing.T, err error) (int, string) {
	t.Helper()
	var of *proto.RequestError
	require.ErrorAs(t, err, &of)
	return of.Code, of.Message
}

// stored returns the store of a working directory.
func stored(t *testing.T, dir, cwd string) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Open(filepath.Join(dir, sessionstore.ProjectSlug(cwd), "sessions"), &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// calling is a step that makes a call.
func calling(text string, calls ...sessionstore.ToolCall) sessionstore.Message {
	m, err := sessionstore.ToolCallMessage(text, time.Now(), calls...)
	if err != nil {
		panic(err) // unreachable: the calls of tests are sound
	}
	return m
}
