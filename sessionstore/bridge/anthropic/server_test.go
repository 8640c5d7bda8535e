package anthropic_test

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/anthropic"
)

// picture is a PNG of one pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

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
			msgs := rows(t, `{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+picture+`"}}, {"type": "text", "text": "What is it?"}]}`)
			answer := func() sessionstore.Message {
				params, report, err := anthropic.Params(msgs)
				require.NoError(t, err)
				require.Empty(t, report)
				response, err := ask(t.Context(), client.Messages, sdk.MessageNewParams{Model: "claude-sonnet-5", MaxTokens: 100, Messages: params})
				require.NoError(t, err)
				row, err := anthropic.Message(response)
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
