package genai_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/genai"
)

// A server that refuses what Gemini refuses takes each request of a conversation, whether
// it answers at once or as a stream.
func TestServer(t *testing.T) {
	t.Parallel()
	ask := map[string]func(context.Context, *sdk.Models, []*sdk.Content) ([]*sdk.GenerateContentResponse, error){
		"at once": func(ctx context.Context, m *sdk.Models, contents []*sdk.Content) ([]*sdk.GenerateContentResponse, error) {
			response, err := m.GenerateContent(ctx, "gemini-3-pro", contents, nil)
			return []*sdk.GenerateContentResponse{response}, err
		},
		"stream": func(ctx context.Context, m *sdk.Models, contents []*sdk.Content) (all []*sdk.GenerateContentResponse, err error) {
			for response, err := range m.GenerateContentStream(ctx, "gemini-3-pro", contents, nil) {
				if err != nil {
					return nil, err
				}
				all = append(all, response)
			}
			return all, nil
		},
	}
	for name, ask := range ask {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := strict.New(t, strict.Gemini, strict.Limits{Signatures: true})
			s.Script(
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Thinking("hm, well", "c2lnbg=="), strict.Text("I look."), strict.Call("", "see", `{"n": 1}`, "c2lnbg=="), strict.Call("2", "see", `{}`)}},
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Thinking("so", "c2lnbg=="), strict.Text("A pixel.")}},
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Text("Bye.")}},
			)
			client, err := sdk.NewClient(t.Context(), &sdk.ClientConfig{APIKey: "k", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: s.URL}})
			require.NoError(t, err)
			talk.Converse(t, s, func(msgs []sessionstore.Message) (sessionstore.Message, bridge.Report, error) {
				contents, report, err := genai.Params(msgs)
				require.NoError(t, err)
				responses, err := ask(t.Context(), client.Models, contents)
				require.NoError(t, err)
				row, err := genai.Message(responses...)
				return row, report, err
			})
		})
	}
}

// A turn that another model began goes on with Gemini 3, which refuses the first call of a step
// without a signature. Signatures that Gemini gave, and calls of turns before, stay as they are.
func TestServerGoesOn(t *testing.T) {
	t.Parallel()
	s := strict.New(t, strict.Gemini, strict.Limits{Signatures: true})
	s.Script(
		strict.Answer{Parts: []strict.Part{strict.Call("g1", "see", `{}`, "c2lnbg=="), strict.Call("g2", "see", `{}`)}},
		strict.Answer{Parts: []strict.Part{strict.Text("Bye.")}},
	)
	client, err := sdk.NewClient(t.Context(), &sdk.ClientConfig{APIKey: "k", Backend: sdk.BackendGeminiAPI, HTTPOptions: sdk.HTTPOptions{BaseURL: s.URL}})
	require.NoError(t, err)
	called := func(provider string, ids ...string) (rows []string) {
		content, results := "", []string{}
		for _, id := range ids {
			content += `, {"type": "tool_use", "id": "` + id + `", "name": "see", "input": {}}`
			results = append(results, `{"role": "tool", "name": "see", "tool_call_id": "`+id+`", "content": "r"}`)
		}
		return append([]string{`{"role": "assistant", "content": [{"type": "text", "text": "I look."}` + content + `], "metadata": {"provider": "` + provider + `"}}`}, results...)
	}
	rows := slices.Concat([]string{`{"role": "user", "content": "q"}`}, called("anthropic", "a1"), []string{`{"role": "assistant", "content": "a"}`, `{"role": "user", "content": "and?"}`},
		called("anthropic", "a2", "a3"), called("openai", "o1"), called("of a program", "p1"))
	msgs := talk.Rows(t, rows...)
	for range 2 {
		contents, report, err := genai.Params(msgs)
		require.NoError(t, err)
		require.Empty(t, report.LeftOut)
		var signed []string
		for _, c := range contents {
			for _, p := range c.Parts {
				if p.FunctionCall != nil && p.ThoughtSignature != nil {
					signed = append(signed, p.FunctionCall.ID+" "+string(p.ThoughtSignature))
				}
			}
		}
		const skip = " skip_thought_signature_validator"
		require.Equal(t, []string{"a2" + skip, "o1" + skip, "p1" + skip, "g1 sign"}[:len(signed)], signed)
		require.GreaterOrEqual(t, len(signed), 3)
		response, err := client.Models.GenerateContent(t.Context(), "gemini-3-pro", contents, nil)
		require.NoError(t, err)
		row, err := genai.Message(response)
		require.NoError(t, err)
		msgs = append(msgs, row)
		for _, call := range row.ToolCalls() {
			msgs = append(msgs, talk.Rows(t, `{"role": "tool", "name": "see", "tool_call_id": "`+call.ID+`", "content": "r"}`)...)
		}
	}
	require.Empty(t, s.Refusals())
}
