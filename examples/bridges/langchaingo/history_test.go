package langchaingo

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/fake"
	"github.com/tmc/langchaingo/memory"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

const id = "3f2b8a52-5a0e-4c11-9a53-0d8c5d7be001"

func newStore(t *testing.T) *sessionstore.Store { return open(t, t.TempDir()) }

func open(t *testing.T, dir string) *sessionstore.Store {
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

func TestMain(m *testing.M) {
	state, err := os.MkdirTemp("", "langchaingo-")
	if err != nil {
		panic(err)
	}
	os.Setenv("AMPLIFIER_SESSION_STATE_HOME", state) // the ownership locks of the tests
	code := m.Run()
	os.RemoveAll(state)
	os.Exit(code)
}

// chat asks the model with the whole history, as a chain with a memory does.
func chat(ctx context.Context, llm llms.Model, buffer *memory.ConversationBuffer, question string) (string, error) {
	known, err := buffer.LoadMemoryVariables(ctx, nil)
	if err != nil {
		return "", err
	}
	answer, err := llms.GenerateFromSinglePrompt(ctx, llm, known["history"].(string)+"\nHuman: "+question)
	if err != nil {
		return "", err
	}
	return answer, buffer.SaveContext(ctx, map[string]any{"in": question}, map[string]any{"out": answer})
}

// A conversation goes on with another store and another memory, as in another
// process.
func TestConversationBufferGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	llm := fake.NewFakeLLM([]string{"Ada.", "You told me: Ada."})
	for i, question := range []string{"I am Ada. Who am I?", "Really?"} {
		st := open(t, dir)
		buffer := memory.NewConversationBuffer(memory.WithChatHistory(New(st, id)))
		answer, err := chat(t.Context(), llm, buffer, question)
		require.NoError(t, err)
		require.Equal(t, []string{"Ada.", "You told me: Ada."}[i], answer)
		require.NoError(t, st.Close())
	}
	st := open(t, dir)
	buffer := memory.NewConversationBuffer(memory.WithChatHistory(New(st, id)))
	known, err := buffer.LoadMemoryVariables(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "Human: I am Ada. Who am I?\nAI: Ada.\nHuman: Really?\nAI: You told me: Ada.", known["history"])
	resumable(t, st, 2)
}

// resumable checks what the Python tools and a provider need to resume.
func resumable(t *testing.T, st *sessionstore.Store, turns int) {
	t.Helper()
	s, diagnostics, err := st.LoadStrict(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, diagnostics)
	listed, _ := s.Metadata.Int("turn_count")
	require.Equal(t, turns, listed)
	require.Equal(t, turns, slice.CountTurns(s.Messages))
	d, err := slice.Diagnose(s.Messages)
	require.NoError(t, err)
	require.True(t, d.Healthy())
	for _, p := range []accept.Provider{accept.Anthropic, accept.OpenAIChat} {
		require.Empty(t, accept.Check(p, s.Messages))
	}
}

// Every row has the bytes that the reference would write for it.
func TestRowsAreTheReferences(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	h := New(st, id)
	calls := []llms.ToolCall{{ID: "call_1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "bash", Arguments: `{"command": "ls <x>"}`}}}
	messages := []llms.ChatMessage{
		llms.HumanChatMessage{Content: "Grüezi & \"hi\""},
		llms.AIChatMessage{ReasoningContent: "list", ToolCalls: calls},
		llms.ToolChatMessage{ID: "call_1", Content: "a\nb"},
		llms.AIChatMessage{Content: "Two files."},
	}
	for _, m := range messages {
		require.NoError(t, h.AddMessage(t.Context(), m))
	}
	raw, err := os.ReadFile(filepath.Join(st.Dir(), id, "transcript.jsonl"))
	require.NoError(t, err)
	at := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00`)
	require.Equal(t, `{"role": "user", "content": "Grüezi & \"hi\"", "metadata": {"timestamp": "T"}}
{"role": "assistant", "content": "", "reasoning_content": "list", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"ls <x>\"}"}}], "metadata": {"timestamp": "T"}}
{"role": "tool", "content": "a\nb", "tool_call_id": "call_1", "metadata": {"timestamp": "T"}}
{"role": "assistant", "content": "Two files.", "metadata": {"timestamp": "T"}}
`, at.ReplaceAllString(string(raw), "T"))
	back, err := h.Messages(t.Context())
	require.NoError(t, err)
	require.Equal(t, messages, back)
	resumable(t, st, 1)
}

// What langchaingo's own test of a history expects, but for the system message.
func TestChatMessageHistory(t *testing.T) {
	t.Parallel()
	h := New(newStore(t), id)
	none, err := h.Messages(t.Context())
	require.NoError(t, err)
	require.Equal(t, []llms.ChatMessage{}, none)
	require.NoError(t, h.AddAIMessage(t.Context(), "foo"))
	require.NoError(t, h.AddUserMessage(t.Context(), "bar"))
	messages, err := h.Messages(t.Context())
	require.NoError(t, err)
	require.Equal(t, []llms.ChatMessage{llms.AIChatMessage{Content: "foo"}, llms.HumanChatMessage{Content: "bar"}}, messages)

	generic := llms.GenericChatMessage{Role: "critic", Name: "Bea", Content: "so so"}
	for _, h := range []*History{h, New(newStore(t), id)} {
		require.NoError(t, h.SetMessages(t.Context(), []llms.ChatMessage{
			llms.AIChatMessage{Content: "foo"}, llms.SystemChatMessage{Content: "bar"}, generic,
		}))
		require.NoError(t, h.AddUserMessage(t.Context(), "zoo"))
		messages, err = h.Messages(t.Context())
		require.NoError(t, err)
		require.Equal(t, []llms.ChatMessage{llms.AIChatMessage{Content: "foo"}, generic, llms.HumanChatMessage{Content: "zoo"}}, messages)
	}
	require.NoError(t, h.Clear(t.Context()))
	messages, err = h.Messages(t.Context())
	require.NoError(t, err)
	require.Empty(t, messages)
}

// Rows that another tool wrote keep their bytes when messages are set.
func TestSettingKeepsTheRowsOfOthers(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	lines := []string{
		`{"role": "user", "content": [{"type": "text", "text": "look"}], "x": 1.50}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "…", "signature": "s"}, {"type": "text", "text": "ok"}]}`,
		`{"role": "user", "content": "look"}`,
		`{"role": "assistant", "content": "again"}`,
	}
	var rows []sessionstore.Message
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(t, err)
		rows = append(rows, m)
	}
	require.NoError(t, st.Append(t.Context(), id, rows...))
	h := New(st, id)
	messages, err := h.Messages(t.Context())
	require.NoError(t, err)
	require.Equal(t, llms.AIChatMessage{Content: "ok"}, messages[1])
	require.NoError(t, h.SetMessages(t.Context(), messages[1:]))
	raw, err := os.ReadFile(filepath.Join(st.Dir(), id, "transcript.jsonl"))
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines[1:], "\n")+"\n", string(raw))
	before, err := os.ReadFile(filepath.Join(st.Dir(), id, "transcript.jsonl.backup"))
	require.NoError(t, err)
	require.Equal(t, strings.Join(lines, "\n")+"\n", string(before))
}

type foreign struct{ llms.ChatMessage }

func TestWhatCannotBeResumedIsRefused(t *testing.T) {
	t.Parallel()
	h := New(newStore(t), id)
	call := llms.FunctionCall{Name: "f", Arguments: "{}"}
	for _, m := range []llms.ChatMessage{
		llms.FunctionChatMessage{Name: "f"},
		llms.AIChatMessage{FunctionCall: &call},
		llms.AIChatMessage{ToolCalls: []llms.ToolCall{{Type: "function", FunctionCall: &call}}},
		llms.AIChatMessage{ToolCalls: []llms.ToolCall{{ID: "1"}}},
	} {
		require.ErrorIs(t, h.AddMessage(t.Context(), m), ErrFunction)
		require.ErrorIs(t, h.SetMessages(t.Context(), []llms.ChatMessage{m}), ErrFunction)
	}
	require.ErrorIs(t, h.AddMessage(t.Context(), foreign{llms.HumanChatMessage{}}), llms.ErrUnexpectedChatMessageType)
	require.ErrorIs(t, h.AddMessage(t.Context(), llms.GenericChatMessage{}), sessionstore.ErrUnstorable)
	require.ErrorIs(t, New(newStore(t), "../x").AddUserMessage(t.Context(), "hi"), sessionstore.ErrInvalidID)
}

// A damaged transcript is told, together with what is left of it.
func TestDamageIsTold(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	m, err := sessionstore.Text("user", "hi", time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, m))
	path := filepath.Join(st.Dir(), id, "transcript.jsonl")
	require.NoError(t, os.WriteFile(path, append(m.AppendTo(nil), "\n{\n"...), 0o600))
	require.NoError(t, os.WriteFile(path+".backup", []byte("{\n"), 0o600))
	h := New(st, id)
	messages, err := h.Messages(t.Context())
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	require.Equal(t, []llms.ChatMessage{llms.HumanChatMessage{Content: "hi"}}, messages)
	require.ErrorIs(t, h.Clear(t.Context()), sessionstore.ErrCorrupt)
}

// Programs that share a session lose none of each other's messages.
func TestManyWritersLoseNothing(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			h := New(st, id)
			for range 3 {
				if err := h.AddUserMessage(t.Context(), "hi"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	messages, err := New(st, id).Messages(t.Context())
	require.NoError(t, err)
	require.Len(t, messages, 24)
	md, err := st.Metadata(t.Context(), id)
	require.NoError(t, err)
	turns, _ := md.Int("turn_count")
	require.Equal(t, 24, turns)
}
