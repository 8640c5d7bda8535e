package openai_test

import (
	"context"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/openai"
)

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
			talk.Converse(t, s, func(msgs []sessionstore.Message) (sessionstore.Message, bridge.Report, error) {
				input, report, err := openai.Params(msgs)
				require.NoError(t, err)
				response, err := ask(t.Context(), client.Responses, responses.ResponseNewParams{
					Model: "gpt-5.5", Store: sdk.Bool(false), Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
					Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input},
				})
				require.NoError(t, err)
				row, err := openai.Message(response)
				return row, report, err
			})
		})
	}
}
