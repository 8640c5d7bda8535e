package genai_test

import (
	"context"
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
