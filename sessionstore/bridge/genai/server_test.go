package genai_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/genai"
)

// picture is a PNG of one pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

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
			msgs := rows(t, `{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+picture+`"}}, {"type": "text", "text": "What is it?"}]}`)
			answer := func() sessionstore.Message {
				contents, report, err := genai.Params(msgs)
				require.NoError(t, err)
				require.Empty(t, report)
				responses, err := ask(t.Context(), client.Models, contents)
				require.NoError(t, err)
				row, err := genai.Message(responses...)
				require.NoError(t, err)
				msgs = append(msgs, row)
				return row
			}
			for _, call := range answer().ToolCalls() {
				msgs = append(msgs, rows(t, fmt.Sprintf(`{"role": "tool", "name": %q, "tool_call_id": %q, "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "%s"}}]}`, call.Name, call.ID, picture))...)
			}
			require.Len(t, msgs, 4)
			require.Equal(t, []string{"hm, well"}, msgs[1].Thinking())
			require.Equal(t, "A pixel.", answer().Content())
			msgs = append(msgs, rows(t, `{"role": "user", "content": "Thanks."}`)...)
			require.Equal(t, "Bye.", answer().Content())
			require.Empty(t, s.Refusals())
			require.Len(t, s.Requests(), 3)
		})
	}
}
