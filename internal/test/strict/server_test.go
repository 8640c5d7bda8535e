package strict

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked is a request that each API accepts, as one answer or streamed.
var asks = [...]struct{ path, streamPath, body, stream string }{
	{"/v1/messages", "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`, `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"a"}]}`},
	{"/v1/chat/completions", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"}]}`, `{"model":"m","stream":true,"messages":[{"role":"user","content":"a"}]}`},
	{"/v1/responses", "/v1/responses", `{"model":"m","input":"a"}`, `{"model":"m","stream":true,"input":"a"}`},
	{"/v1beta/models/m:generateContent", "/v1beta/models/m:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"a"}]}]}`, `{"contents":[{"parts":[{"text":"a"}]}]}`},
}

func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("x-api-key", "k")
	r.Header.Set("Authorization", "Bearer k")
	r.Header.Set("anthropic-version", "2023-06-01")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func whole(t *testing.T, answer *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(b)
}

// events returns the data of the events of a stream, and the error at its end.
func eventsOf(answer *http.Response) ([]string, error) {
	var all []string
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			all = append(all, data)
		}
	}
	return all, lines.Err()
}

// collect returns the strings of all fields of that name in JSON values, in their order.
func collect(name string, values ...string) string {
	var found strings.Builder
	var walk func(any)
	walk = func(v any) {
		for _, e := range list(v) {
			walk(e)
		}
		for field, e := range fields(v) {
			if field == name {
				found.WriteString(text(e))
			}
			walk(e)
		}
	}
	for _, s := range values {
		var v any
		if json.Unmarshal([]byte(s), &v) == nil {
			walk(v)
		}
	}
	return found.String()
}

func TestErrorsInTheProvidersForm(t *testing.T) {
	t.Parallel()
	for api, c := range [...]struct{ body, want string }{
		{
			`{"model":"m","max_tokens":9,"messages":[]}`,
			`{"type":"error","error":{"type":"invalid_request_error","message":"messages: at least one message is required"},"request_id":"req_strict"}`,
		},
		{
			`{"model":"m","messages":[]}`,
			`{"error":{"message":"Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.","type":"invalid_request_error","param":"messages","code":"empty_array"}}`,
		},
		{
			`{"model":"m","input":[{"type":"function_call_output","call_id":"c1","output":"r"}]}`,
			`{"error":{"message":"No tool call found for function call output with call_id c1.","type":"invalid_request_error","param":"input","code":null}}`,
		},
		{
			`{"contents":[{"role":"assistant","parts":[{"text":"a"}]}]}`,
			`{"error":{"code":400,"message":"Please use a valid role: user, model.","status":"INVALID_ARGUMENT"}}`,
		},
	} {
		s := New(t, API(api), Limits{})
		answer := post(t, s.URL+asks[api].path, c.body)
		require.Equal(t, 400, answer.StatusCode)
		require.JSONEq(t, c.want, whole(t, answer))
		require.NotEmpty(t, s.Refusals())
		require.Equal(t, c.body, string(s.Requests()[0].Body))

		require.Equal(t, 404, post(t, s.URL+"/v1/other", c.body).StatusCode)
		keyless, err := http.Post(s.URL+asks[api].path, "application/json", strings.NewReader(asks[api].body)) //nolint:noctx // a test
		require.NoError(t, err)
		require.NoError(t, keyless.Body.Close())
		require.Equal(t, 401, keyless.StatusCode)

		answer = post(t, s.URL+asks[api].path, asks[api].body)
		require.Equal(t, 400, answer.StatusCode, "the script is empty")
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	for api, ask := range asks {
		if API(api) == Chat {
			continue // it says nothing
		}
		s := New(t, API(api), Limits{})
		said := Answer{Chunk: 3, Parts: []Part{Thinking("hm, so", "c2ln"), Text("größer 😀"), Call("c1", "f", `{"path":"größe"}`, "c2ln")}}
		s.Script(said, said)
		one := whole(t, post(t, s.URL+ask.path, ask.body))
		many, err := eventsOf(post(t, s.URL+ask.streamPath, ask.stream))
		require.NoError(t, err)
		require.Empty(t, s.Refusals())

		switch API(api) {
		case Anthropic:
			require.Equal(t, "größer 😀", collect("text", one))
			require.Equal(t, "größer 😀", collect("text", many...))
			require.Equal(t, "hm, so", collect("thinking", many...))
			require.Equal(t, "c2ln", collect("signature", many...))
			require.Equal(t, `{"path":"größe"}`, collect("partial_json", many...))
			require.Equal(t, "größe", collect("path", one))
			require.Equal(t, "tool_use", collect("stop_reason", one))
			require.Contains(t, many[len(many)-1], "message_stop")
		case Responses:
			require.Equal(t, "hm, sogrößer 😀", collect("text", one))
			require.Equal(t, `größer 😀{"path":"größe"}`, collect("delta", many...))
			require.Equal(t, `{"path":"größe"}`, collect("arguments", one))
			require.Contains(t, many[len(many)-1], "response.completed")
		case Gemini:
			require.Equal(t, "hm, sogrößer 😀", collect("text", one))
			require.Equal(t, "hm, sogrößer 😀", collect("text", many...))
			require.Equal(t, "größe", collect("path", many...))
			require.Equal(t, "c2lnc2ln", collect("thoughtSignature", many...))
			require.Equal(t, "STOP", collect("finishReason", many...))
		}
		for _, e := range many {
			require.True(t, json.Valid([]byte(e)), e)
		}
	}
}

// TestPauses holds a stream at an event.
func TestPauses(t *testing.T) {
	t.Parallel()
	for api, ask := range asks {
		if API(api) == Chat {
			continue // it says nothing
		}
		s := New(t, API(api), Limits{})
		reached, goOn := make(chan int), make(chan struct{})
		pause := func(event int) {
			if event == 2 {
				reached <- event
				<-goOn
			}
		}
		s.Script(Answer{Parts: []Part{Text("abcdefgh")}, Chunk: 1, Pause: pause})
		type read struct {
			events []string
			err    error
		}
		done := make(chan read, 1)
		answer := post(t, s.URL+ask.streamPath, ask.stream)
		go func() {
			events, err := eventsOf(answer)
			done <- read{events, err}
		}()
		require.Equal(t, 2, <-reached)
		require.Empty(t, done, "the stream waits")
		close(goOn)
		r := <-done
		require.NoError(t, r.err)
		require.Greater(t, len(r.events), 7)
	}
}
