package anthropic_test

import (
	"context"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/anthropic"
)

// A server that refuses what Anthropic refuses takes each request of a conversation, whether
// it answers at once or as a stream.
func TestServer(t *testing.T) {
	t.Parallel()
	ask := map[string]func(context.Context, sdk.MessageService, sdk.MessageNewParams) (*sdk.Message, error){
		"at once": func(ctx context.Context, m sdk.MessageService, p sdk.MessageNewParams) (*sdk.Message, error) {
			return m.New(ctx, p)
		},
		"stream": func(ctx context.Context, m sdk.MessageService, p sdk.MessageNewParams) (*sdk.Message, error) {
			stream, whole := m.NewStreaming(ctx, p), sdk.Message{}
			for stream.Next() {
				if err := whole.Accumulate(stream.Current()); err != nil {
					return nil, err
				}
			}
			return &whole, stream.Err()
		},
	}
	for name, ask := range ask {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := strict.New(t, strict.Anthropic, strict.Limits{NoPrefill: true})
			s.Script(
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Thinking("hm, well", "c2lnbg=="), strict.Text("I look."), strict.Call("toolu_1", "see", `{"n": 1}`), strict.Call("toolu_2", "see", `{}`)}},
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Thinking("so", "c2lnbg=="), strict.Text("A pixel.")}},
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Text("Bye.")}},
			)
			client := sdk.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey("k"))
			talk.Converse(t, s, func(msgs []sessionstore.Message) (sessionstore.Message, bridge.Report, error) {
				params, report, err := anthropic.Params(msgs)
				require.NoError(t, err)
				response, err := ask(t.Context(), client.Messages, sdk.MessageNewParams{Model: "claude-sonnet-5", MaxTokens: 100, Messages: params})
				require.NoError(t, err)
				row, err := anthropic.Message(response)
				return row, report, err
			})
		})
	}
}
