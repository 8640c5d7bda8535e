package openai_test

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/openai"
)

// picture is a PNG of one pixel.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// A server that refuses what OpenAI refuses takes each request of a conversation, whether
// it answers at once or as a stream.
func TestServer(t *testing.T) {
	t.Parallel()
	ask := map[string]func(context.Context, responses.ResponseService, responses.ResponseNewParams) (*responses.Response, error){
		"at once": func(ctx context.Context, r responses.ResponseService, p responses.ResponseNewParams) (*responses.Response, error) {
			return r.New(ctx, p)
		},
		"stream": func(ctx context.Context, r responses.ResponseService, p responses.ResponseNewParams) (*responses.Response, error) {
			stream := r.NewStreaming(ctx, p)
			var last *responses.Response
			for stream.Next() {
				if e := stream.Current(); e.Type == "response.completed" {
					last = &e.Response
				}
			}
			return last, stream.Err()
		},
	}
	for name, ask := range ask {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := strict.New(t, strict.Responses, strict.Limits{})
			s.Script(
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Thinking("hm, well", "gAAAAABo"), strict.Text("I look."), strict.Call("call_1", "see", `{"n": 1}`), strict.Call("call_2", "see", `{}`)}},
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Text("A pixel.")}},
				strict.Answer{Chunk: 3, Parts: []strict.Part{strict.Text("Bye.")}},
			)
			client := sdk.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey("k"))
			msgs := rows(t, `{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+picture+`"}}, {"type": "text", "text": "What is it?"}]}`)
			answer := func() sessionstore.Message {
				input, report, err := openai.Params(msgs)
				require.NoError(t, err)
				require.Empty(t, report)
				response, err := ask(t.Context(), client.Responses, responses.ResponseNewParams{
					Model: "gpt-5.5", Store: sdk.Bool(false), Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
					Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input},
				})
				require.NoError(t, err)
				row, err := openai.Message(response)
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
