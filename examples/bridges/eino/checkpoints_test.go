//go:build !386 && !arm

package eino

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const id = "3f2b8a52-5a0e-4c11-9a53-0d8c5d7be001"

func open(t *testing.T, dir string) *sessionstore.Store {
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// asks is a model that always wants one tool called.
type asks struct{}

func (asks) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	return schema.AssistantMessage("", []schema.ToolCall{{
		ID: "call_1", Type: "function",
		Function: schema.FunctionCall{Name: "remove", Arguments: `{"path": "` + in[0].Content + `"}`},
	}}), nil
}

func (asks) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.ErrUnsupported
}

// remove is a tool that waits for the user's approval. It counts its runs.
type remove struct{ runs *int }

func (remove) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "remove", Desc: "removes a file"}, nil
}

func (r remove) InvokableRun(ctx context.Context, arguments string, _ ...tool.Option) (string, error) {
	interrupted, _, asked := tool.GetInterruptState[string](ctx)
	if !interrupted {
		return "", tool.StatefulInterrupt(ctx, "remove the file?", arguments)
	}
	if resumed, _, said := tool.GetResumeContext[string](ctx); !resumed || said != "yes" {
		return "refused", nil
	}
	*r.runs++
	return "removed " + asked, nil
}

// agent is a graph of the model and the tool, as a program builds it when it
// starts.
func agent(t *testing.T, dir string, runs *int) compose.Runnable[[]*schema.Message, []*schema.Message] {
	tools, err := compose.NewToolNode(t.Context(), &compose.ToolsNodeConfig{Tools: []tool.BaseTool{remove{runs}}})
	require.NoError(t, err)
	g := compose.NewGraph[[]*schema.Message, []*schema.Message]()
	require.NoError(t, g.AddChatModelNode("model", asks{}))
	require.NoError(t, g.AddToolsNode("tools", tools))
	require.NoError(t, g.AddEdge(compose.START, "model"))
	require.NoError(t, g.AddEdge("model", "tools"))
	require.NoError(t, g.AddEdge("tools", compose.END))
	r, err := g.Compile(t.Context(), compose.WithCheckPointStore(New(open(t, dir), id)), compose.WithGraphName("agent"))
	require.NoError(t, err)
	return r
}

// A call waits for approval, the program ends, and another one goes on with
// the user's answer.
func TestInterruptedGraphGoesOn(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"yes", "no"} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			dir, runs := t.TempDir(), 0
			question := []*schema.Message{schema.UserMessage("/tmp/x")}
			_, err := agent(t, dir, &runs).Invoke(t.Context(), question, compose.WithCheckPointID("run 1"))
			interrupt, ok := compose.ExtractInterruptInfo(err)
			require.True(t, ok, "%v", err)
			require.Zero(t, runs)
			var asked *compose.InterruptCtx
			for _, c := range interrupt.InterruptContexts {
				if c.IsRootCause {
					asked = c
				}
			}
			require.NotNil(t, asked)
			require.Equal(t, "remove the file?", asked.Info)

			ctx := compose.ResumeWithData(t.Context(), asked.ID, said)
			results, err := agent(t, dir, &runs).Invoke(ctx, nil, compose.WithCheckPointID("run 1"))
			require.NoError(t, err)
			require.Len(t, results, 1)
			require.Equal(t, "call_1", results[0].ToolCallID)
			if said == "yes" {
				require.Equal(t, `removed {"path": "/tmp/x"}`, results[0].Content)
				require.Equal(t, 1, runs)
			} else {
				require.Equal(t, "refused", results[0].Content)
				require.Zero(t, runs)
			}
		})
	}
}

// A graph that stops before a node keeps its local state too.
func TestLocalStateGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	compiled := func() compose.Runnable[string, string] {
		g := compose.NewGraph[string, string](compose.WithGenLocalState(func(context.Context) *seen { return &seen{} }))
		require.NoError(t, g.AddLambdaNode("first", compose.InvokableLambda(func(_ context.Context, in string) (string, error) { return in + "1", nil }),
			compose.WithStatePostHandler(func(_ context.Context, out string, s *seen) (string, error) { s.Text = out; return out, nil })))
		require.NoError(t, g.AddLambdaNode("second", compose.InvokableLambda(func(_ context.Context, in string) (string, error) { return in + "2", nil }),
			compose.WithStatePreHandler(func(_ context.Context, in string, s *seen) (string, error) { return in + "(" + s.Text + ")", nil })))
		require.NoError(t, g.AddEdge(compose.START, "first"))
		require.NoError(t, g.AddEdge("first", "second"))
		require.NoError(t, g.AddEdge("second", compose.END))
		r, err := g.Compile(t.Context(), compose.WithCheckPointStore(New(open(t, dir), id)), compose.WithInterruptBeforeNodes([]string{"second"}))
		require.NoError(t, err)
		return r
	}
	_, err := compiled().Invoke(t.Context(), "a", compose.WithCheckPointID("1"))
	interrupt, ok := compose.ExtractInterruptInfo(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []string{"second"}, interrupt.BeforeNodes)
	out, err := compiled().Invoke(t.Context(), "", compose.WithCheckPointID("1"))
	require.NoError(t, err)
	require.Equal(t, "a1(a1)2", out)
}

type seen struct{ Text string }

func init() { schema.RegisterName[*seen]("bridges_test_seen") }

func TestCheckPointsAreBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir)
	c := New(st, id)
	none := func(name string) {
		t.Helper()
		got, found, err := c.Get(t.Context(), name)
		require.NoError(t, err)
		require.False(t, found)
		require.Nil(t, got)
	}
	none("a")
	require.NoError(t, c.Delete(t.Context(), "a"))
	require.False(t, st.Exists(id))
	for name, content := range map[string][]byte{"a": {0, 255, '\n', '"'}, "": {}, "../ü\"": []byte("{}")} {
		require.NoError(t, c.Set(t.Context(), name, content))
		got, found, err := New(open(t, dir), id).Get(t.Context(), name)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, content, got)
	}
	require.NoError(t, c.Set(t.Context(), "a", nil))
	got, found, err := c.Get(t.Context(), "a")
	require.NoError(t, err)
	require.True(t, found)
	require.Empty(t, got)
	require.NoError(t, c.Delete(t.Context(), "a"))
	none("a")

	require.NoError(t, os.WriteFile(filepath.Join(dir, id, "state.json"), []byte(`{"v": 1, "values": {"eino/a": "?"}}`), 0o600))
	_, _, err = c.Get(t.Context(), "a")
	require.ErrorContains(t, err, "not base64")
	require.ErrorIs(t, New(st, "../x").Set(t.Context(), "a", nil), sessionstore.ErrInvalidID)
}
