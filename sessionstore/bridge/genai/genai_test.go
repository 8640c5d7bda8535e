package genai_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdk "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/genai"
)

func response(t *testing.T, text string) *sdk.GenerateContentResponse {
	t.Helper()
	var r sdk.GenerateContentResponse
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	return &r
}

const answer = `{"responseId": "r1", "modelVersion": "gemini-3-pro", "candidates": [{"content": {"role": "model", "parts": [
	{"text": "hm", "thought": true, "thoughtSignature": "QUJD"},
	{"executableCode": {"code": "print(1)", "language": "PYTHON"}},
	{"text": "Look <here>", "thoughtSignature": "REVG"},
	{"functionCall": {"name": "read", "args": {"path": "a", "none": null}}, "thoughtSignature": "R0hJ"},
	{"functionCall": {"name": "read", "id": "given", "args": {}}}
]}}], "usageMetadata": {"promptTokenCount": 15, "cachedContentTokenCount": 5, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 22}}`

// An answer comes back as it was, also what only Gemini knows.
func TestAnswerComesBack(t *testing.T) {
	t.Parallel()
	row, err := genai.Message(response(t, answer))
	require.NoError(t, err)
	require.Equal(t, []string{"hm"}, row.Thinking())
	require.Equal(t, "Look <here>", row.Content())
	calls := row.ToolCalls()
	require.Len(t, calls, 2)
	require.Regexp(t, `^gemini_call_[0-9a-f]{12}$`, calls[0].ID)
	require.Equal(t, "given", calls[1].ID)
	require.JSONEq(t, `{"path": "a", "none": null}`, string(calls[0].Arguments))

	row = talk.Stored(t, row)
	msgs := append(talk.Rows(t, `{"role": "user", "content": "q"}`), row)
	for _, c := range calls {
		result, err := sessionstore.ToolResult(c.ID, c.Name, "text", time.Now())
		require.NoError(t, err)
		msgs = append(msgs, result)
	}
	contents, report, err := genai.Params(msgs)
	require.NoError(t, err)
	require.Empty(t, report)
	require.Len(t, contents, 3)
	whole := response(t, answer).Candidates[0].Content
	whole.Parts[3].FunctionCall.ID = calls[0].ID
	want, err := json.Marshal(whole)
	require.NoError(t, err)
	got, err := json.Marshal(contents[1])
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
	require.Equal(t, []*sdk.Part{
		{FunctionResponse: &sdk.FunctionResponse{ID: calls[0].ID, Name: "read", Response: map[string]any{"output": "text"}}},
		{FunctionResponse: &sdk.FunctionResponse{ID: "given", Name: "read", Response: map[string]any{"output": "text"}}},
	}, contents[2].Parts)
}

// The responses of a stream are one answer.
func TestStream(t *testing.T) {
	t.Parallel()
	chunk := func(parts string) *sdk.GenerateContentResponse {
		return response(t, `{"modelVersion": "m", "candidates": [{"content": {"role": "model", "parts": [`+parts+`]}}]}`)
	}
	row, err := genai.Message(
		chunk(`{"text": "I ", "thought": true}`), chunk(`{"text": "think", "thought": true}`),
		chunk(`{"text": "Hel"}`), chunk(`{"text": "lo", "thoughtSignature": "QUJD"}, {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "QUJD"}`),
		chunk(`{"text": "more", "thoughtSignature": "QUJD"}`), chunk(`{"text": "last"}`), chunk(``))
	require.NoError(t, err)
	require.Equal(t, []string{"I think"}, row.Thinking())
	require.Equal(t, "Hello\nmore\nlast", row.Content())
	require.Len(t, row.ToolCalls(), 1)
	contents, _, err := genai.Params(append(talk.Rows(t, `{"role": "user", "content": "q"}`), row, talk.Rows(t, `{"role": "tool", "tool_call_id": "`+row.ToolCalls()[0].ID+`", "content": "r"}`)[0]))
	require.NoError(t, err)
	raw, err := json.Marshal(contents[1].Parts)
	require.NoError(t, err)
	require.JSONEq(t, `[{"text": "I ", "thought": true}, {"text": "think", "thought": true}, {"text": "Hel"}, {"text": "lo", "thoughtSignature": "QUJD"}, {"functionCall": {"id": "`+row.ToolCalls()[0].ID+`", "name": "f"}, "thoughtSignature": "QUJD"},
		{"text": "more", "thoughtSignature": "QUJD"}, {"text": "last"}]`, string(raw), "the parts are as they came")
}

// A stream of Gemini 3 ends with a signature alone, which the SDK cannot send: it goes to the
// text before it.
func TestStreamEndsWithSignature(t *testing.T) {
	t.Parallel()
	chunk := func(part string) *sdk.GenerateContentResponse {
		return response(t, `{"candidates": [{"content": {"role": "model", "parts": [`+part+`]}}]}`)
	}
	user := talk.Rows(t, `{"role": "user", "content": "q"}`)
	sent := func(row sessionstore.Message) string {
		contents, _, err := genai.Params(append(user, row, user[0]))
		require.NoError(t, err)
		body, err := json.Marshal(map[string]any{"contents": contents})
		require.NoError(t, err)
		require.Empty(t, strict.Judge(strict.Gemini, strict.Limits{Signatures: true}, body), "%s", body)
		return string(body)
	}
	row, err := genai.Message(chunk(`{"text": "hm", "thought": true}`), chunk(`{"text": "", "thought": true, "thoughtSignature": "QUJD"}`),
		chunk(`{"executableCode": {"code": "1"}}`), chunk(`{"text": "Hel"}`), chunk(`{"text": "lo"}`), chunk(`{"text": "", "thoughtSignature": "REVG"}`))
	require.NoError(t, err)
	body := sent(row)
	require.Contains(t, body, `{"text":"hm","thought":true,"thoughtSignature":"QUJD"},{"executableCode":{"code":"1"}},{"text":"Hel"},{"text":"lo","thoughtSignature":"REVG"}`)
	for _, parts := range []string{`{"thoughtSignature": "QUJD"}`, `{"text": "a", "thoughtSignature": "QUJD"}, {"thoughtSignature": "REVG"}`} {
		row, err := genai.Message(chunk(parts))
		require.NoError(t, err)
		require.NotContains(t, sent(row), "REVG", "there is nothing that it signs")
	}
	sent(talk.Rows(t, `{"role": "assistant", "content": [{"type": "text", "text": "a"}], "metadata": {"gemini": {"wire_content": [{"text": "a"}, {"text": "", "thoughtSignature": "QUJD"}]}}}`)[0])
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`: "no candidate", `{"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "secret"}}`: "SAFETY",
	} {
		_, err := genai.Message(response(t, text))
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := genai.Message(nil)
	require.ErrorContains(t, err, "no candidate")
}

// Rows of all providers make the contents that Gemini can be told.
func TestRows(t *testing.T) {
	t.Parallel()
	contents, report, err := genai.Params(talk.Rows(t,
		`{"role": "system", "content": "Be short."}`,
		`{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+talk.Picture+`"}}, {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}}, {"type": "text", "text": "q"}]}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "not base64"}, {"type": "text", "text": "a"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {}}], "tool_calls": [{"id": "c2", "tool": "g", "arguments": {"a": 1}, "signature": "QUJD"}]}`,
		`{"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+talk.Picture+`"}}]}`,
		`{"role": "tool", "tool_call_id": "c1", "content": "no", "is_error": true}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "QUJD"}, {"type": "text", "text": "b"}], "metadata": {"anthropic": {}}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"Be short."}, report.System)
	require.Equal(t, []string{"message 3: thinking", "message 6: thinking of anthropic"}, talk.Left(report))
	raw, err := json.Marshal(contents)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "`+talk.Picture+`"}}, {"fileData": {"fileUri": "https://example.com/a.pdf"}}, {"text": "q"}]},
		{"role": "model", "parts": [{"text": "a"}, {"functionCall": {"id": "c1", "name": "f"}}, {"functionCall": {"id": "c2", "name": "g", "args": {"a": 1}}, "thoughtSignature": "QUJD"}]},
		{"role": "user", "parts": [{"functionResponse": {"id": "c2", "name": "g", "response": {"output": "see"}, "parts": [{"inlineData": {"mimeType": "image/png", "data": "`+talk.Picture+`"}}]}}, {"functionResponse": {"id": "c1", "name": "f", "response": {"error": "no"}}}]},
		{"role": "model", "parts": [{"text": "b"}]}]`, string(raw))

	_, _, err = genai.Params(talk.Rows(t, `{"role": "user", "content": "secret"}`, `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "f", "arguments": {}}]}`))
	require.ErrorContains(t, err, `message 2: call "c": it has no result`)
	require.False(t, strings.Contains(err.Error(), "secret"))
}

// The usage of a response is found where usage is summed up.
func TestEvent(t *testing.T) {
	t.Parallel()
	sum := talk.Usage(t, genai.Event(response(t, answer), time.Second))
	require.Equal(t, []string{"gemini", "gemini-3-pro"}, []string{sum.Provider, sum.Model})
	require.True(t, sum.Exact)
	require.Equal(t, []int64{1, 15, 5, 7, 2}, []int64{int64(sum.Responses), sum.Input, sum.CacheRead, sum.Output, sum.Reasoning})
}

// What is kept of an answer is not sent where the SDK cannot hold it: the blocks are.
func TestChangedAnswer(t *testing.T) {
	t.Parallel()
	for _, part := range []string{`{"text": "a", "thoughtSignature": "QUJ_"}`, `{"text": "a", "videoMetadata": {"fps": "x"}}`} {
		contents, _, err := genai.Params(talk.Rows(t, `{"role": "user", "content": "q"}`,
			`{"role": "assistant", "content": [{"type": "text", "text": "a", "signature": "QUJ_"}], "metadata": {"gemini": {"wire_content": [`+part+`]}}}`))
		require.NoError(t, err)
		require.Len(t, contents, 2)
		require.Equal(t, "a", contents[1].Parts[0].Text)
	}
}
