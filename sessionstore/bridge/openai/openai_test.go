package openai_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/openai"
)

const answer = `{"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-5.5", "created_at": 1, "output": [
	{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}], "encrypted_content": "gAAAA=="},
	{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "commentary", "content": [
		{"type": "output_text", "text": "Look <here>", "annotations": [{"type": "url_citation", "url": "https://example.com", "title": "t", "start_index": 0, "end_index": 4}], "logprobs": []}]},
	{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
	{"type": "newer_than_this", "id": "n_1", "value": null},
	{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "{\"path\":\"a\",  \"n\": 12345678901234567890}", "status": "completed"}
], "usage": {"input_tokens": 15, "input_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 3}, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 22}}`

// An answer comes back as it was, also what only OpenAI and only newer SDKs know.
func TestAnswerComesBack(t *testing.T) {
	t.Parallel()
	var response responses.Response
	require.NoError(t, json.Unmarshal([]byte(answer), &response))
	row, err := openai.Message(&response)
	require.NoError(t, err)
	require.Equal(t, []string{"one\ntwo"}, row.Thinking())
	require.Equal(t, "Look <here>", row.Content())
	require.Equal(t, []sessionstore.ToolCall{{ID: "call_1", Name: "read", Arguments: []byte(`{"path": "a", "n": 12345678901234567890}`)}}, row.ToolCalls())
	require.Contains(t, string(row.AppendTo(nil)), `"content": ["gAAAA==", "rs_1"]`, "as the Python tools have it")

	row = talk.Stored(t, row)
	result, err := sessionstore.ToolResult("call_1", "read", "text", time.Now())
	require.NoError(t, err)
	input, report, err := openai.Params(append(talk.Rows(t, `{"role": "user", "content": "q"}`), row, result))
	require.NoError(t, err)
	require.Empty(t, report)
	require.Len(t, input, 7)
	var want struct{ Output json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(answer), &want))
	got, err := json.Marshal(input[1:6])
	require.NoError(t, err)
	require.JSONEq(t, string(want.Output), string(got))
	require.NotNil(t, input[0].OfMessage, "a program may look into it")
	require.NotNil(t, input[5].OfFunctionCall)
	require.NotNil(t, input[6].OfFunctionCallOutput)
}

// A row that says no more than its blocks, as the Python tools write it, makes the same items.
func TestRows(t *testing.T) {
	t.Parallel()
	input, report, err := openai.Params(talk.Rows(t,
		`{"role": "developer", "content": "Be short."}`,
		`{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+talk.Picture+`"}}, {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQKJSVFT0Y="}, "title": "a.pdf"}, {"type": "text", "text": "q"}, {"type": "audio", "data": "QUJD"}]}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "QUJD"}, {"type": "thinking", "thinking": "one", "content": ["enc", "rs_1"]}, {"type": "text", "text": "a"}, {"type": "tool_call", "id": "c1", "name": "f", "input": {}}], "tool_calls": [{"id": "c1", "tool": "f", "arguments": {}}, {"id": "c2", "tool": "g", "arguments": {"a": 1}}]}`,
		`{"role": "tool", "tool_call_id": "c2", "name": "g", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}]}`,
		`{"role": "tool", "tool_call_id": "c1", "name": "f", "content": "no", "is_error": true}`))
	require.NoError(t, err)
	require.Equal(t, []string{"Be short."}, report.System)
	require.Equal(t, []string{"message 2: audio", "message 3: thinking", "message 5: the mark that a tool failed"}, talk.Left(report))
	raw, err := json.Marshal(input)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"type": "message", "role": "user", "content": [{"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,`+talk.Picture+`"}, {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0xLjQKJSVFT0Y="}, {"type": "input_text", "text": "q"}]},
		{"type": "reasoning", "id": "rs_1", "encrypted_content": "enc", "summary": [{"type": "summary_text", "text": "one"}]},
		{"type": "message", "role": "assistant", "content": "a"},
		{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
		{"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{\"a\": 1}"},
		{"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "see"}, {"type": "input_image", "detail": "auto", "image_url": "https://example.com/a.png"}]},
		{"type": "function_call_output", "call_id": "c1", "output": "no"}]`, string(raw))
	for i, item := range input {
		require.NotNil(t, item.GetType(), "item %d has the types of the SDK", i)
	}

	_, _, err = openai.Params(talk.Rows(t, `{"role": "user", "content": "secret"}`, `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "f", "arguments": {}}]}`))
	require.ErrorContains(t, err, `message 2: call "c": it has no result`)
	require.NotContains(t, err.Error(), "secret")
}

// A call that was cut off is kept as it is, in an object; a failure is an error.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	var response responses.Response
	require.NoError(t, json.Unmarshal([]byte(`{"status": "incomplete", "output": [{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read", "arguments": "{\"path\": \"a", "status": "incomplete"}]}`), &response))
	row, err := openai.Message(&response)
	require.NoError(t, err)
	require.JSONEq(t, `{"arguments": "{\"path\": \"a"}`, string(row.ToolCalls()[0].Arguments))

	require.NoError(t, json.Unmarshal([]byte(`{"status": "failed", "error": {"code": "server_error", "message": "secret"}, "output": []}`), &response))
	_, err = openai.Message(&response)
	require.ErrorContains(t, err, "server_error")
	require.NotContains(t, err.Error(), "secret")
	_, err = openai.Message(nil)
	require.Error(t, err)
}

// The usage of a response is found where usage is summed up.
func TestEvent(t *testing.T) {
	t.Parallel()
	var response responses.Response
	require.NoError(t, json.Unmarshal([]byte(answer), &response))
	sum := talk.Usage(t, openai.Event(&response, time.Second))
	require.Equal(t, []string{"openai", "gpt-5.5"}, []string{sum.Provider, sum.Model})
	require.True(t, sum.Exact)
	require.Equal(t, []int64{1, 15, 5, 3, 7, 2}, []int64{int64(sum.Responses), sum.Input, sum.CacheRead, sum.CacheWrite, sum.Output, sum.Reasoning})
}
