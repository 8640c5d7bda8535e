package anthropic_test

import (
	"encoding/json"
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/talk"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/anthropic"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const answer = `{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": [
	{"type": "thinking", "thinking": "hm", "signature": "EqQB"},
	{"type": "redacted_thinking", "data": "opaque"},
	{"type": "text", "text": "Look <here>:", "citations": [{"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": null, "start_char_index": 0, "end_char_index": 1, "file_id": null}]},
	{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
	{"type": "newer_than_this", "value": 1.50},
	{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a", "none": null, "n": 12345678901234567890}, "caller": {"type": "direct"}}
], "stop_reason": "tool_use", "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 7, "output_tokens_details": {"thinking_tokens": 2}}}`

// An answer comes back as it was, also what only Anthropic and only newer SDKs know.
func TestAnswerComesBack(t *testing.T) {
	t.Parallel()
	var response sdk.Message
	require.NoError(t, json.Unmarshal([]byte(answer), &response))
	row, err := anthropic.Message(&response)
	require.NoError(t, err)
	require.Equal(t, []string{"hm"}, row.Thinking())
	require.Equal(t, "Look <here>:", row.Content())
	require.Equal(t, []sessionstore.ToolCall{{ID: "toolu_1", Name: "read", Arguments: []byte(`{"path": "a", "none": null, "n": 12345678901234567890}`)}}, row.ToolCalls())

	row = talk.Stored(t, row)
	params, report, err := anthropic.Params(append(talk.Rows(t, `{"role": "user", "content": "q"}`), row, result(t)))
	require.NoError(t, err)
	require.Empty(t, report)
	require.Len(t, params, 3)
	var want struct{ Content json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(answer), &want))
	got, err := json.Marshal(params[1].Content)
	require.NoError(t, err)
	require.JSONEq(t, string(want.Content), string(got))
	require.Contains(t, string(got), "12345678901234567890")
	require.NotNil(t, params[1].Content[0].OfThinking, "a program may look into it")
	require.NotNil(t, params[2].Content[0].OfToolResult)
}

func result(t *testing.T) sessionstore.Message {
	t.Helper()
	m, err := sessionstore.ToolResult("toolu_1", "read", "text", time.Now())
	require.NoError(t, err)
	return m
}

// A stream's accumulated message is stored as a response is.
func TestStream(t *testing.T) {
	t.Parallel()
	var whole sdk.Message
	for _, event := range []string{
		`{"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": {"input_tokens": 4, "output_tokens": 1}}}`,
		`{"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}}`,
		`{"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}`,
		`{"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQB"}}`,
		`{"type": "content_block_stop", "index": 0}`,
		`{"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}`,
		`{"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Hel"}}`,
		`{"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "lo"}}`,
		`{"type": "content_block_stop", "index": 1}`,
		`{"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}}`,
		`{"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"a\": "}}`,
		`{"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "1}"}}`,
		`{"type": "content_block_stop", "index": 2}`,
		`{"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}`,
		`{"type": "message_stop"}`,
	} {
		var e sdk.MessageStreamEventUnion
		require.NoError(t, json.Unmarshal([]byte(event), &e))
		require.NoError(t, whole.Accumulate(e))
	}
	row, err := anthropic.Message(&whole)
	require.NoError(t, err)
	require.Equal(t, "Hello", row.Content())
	require.Equal(t, []string{"hm"}, row.Thinking())
	require.Equal(t, []sessionstore.ToolCall{{ID: "toolu_1", Name: "read", Arguments: []byte(`{"a": 1}`)}}, row.ToolCalls())
	raw, _ := row.Lookup("metadata")
	require.NotContains(t, string(raw), "wire_content", "the blocks say it all")
	require.Contains(t, string(row.AppendTo(nil)), `"signature": "EqQB"`)
}

// A call that was cut off in its arguments, as by max_tokens, is not the call without arguments
// that the SDK makes of it, which a program would run.
func TestStreamCutInCall(t *testing.T) {
	t.Parallel()
	var whole sdk.Message
	for _, event := range []string{
		`{"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}}`,
		`{"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "remove", "input": {}}}`,
		`{"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"path\": \"a"}}`,
		`{"type": "content_block_stop", "index": 0}`,
		`{"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 9}}`,
		`{"type": "message_stop"}`,
	} {
		var e sdk.MessageStreamEventUnion
		require.NoError(t, json.Unmarshal([]byte(event), &e))
		require.NoError(t, whole.Accumulate(e))
	}
	row, err := anthropic.Message(&whole)
	require.NoError(t, err)
	require.JSONEq(t, `{"arguments": ""}`, string(row.ToolCalls()[0].Arguments))
}

// What Anthropic cannot be told is left out and named; what breaks a conversation is an error.
func TestReport(t *testing.T) {
	t.Parallel()
	msgs := talk.Rows(t,
		`{"role": "system", "content": "Be short."}`,
		`{"role": "user", "content": [{"type": "text", "text": "q"}, {"type": "audio", "data": "QUJD"}]}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "content": ["enc", "rs_1"]}, {"type": "text", "text": "a", "signature": "QUJD"}]}`,
		`{"role": "user", "content": "q2"}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "QUJD"}, {"type": "text", "text": "a"}], "metadata": {"provider": "gemini"}}`)
	params, report, err := anthropic.Params(msgs)
	require.NoError(t, err)
	require.Len(t, params, 4)
	require.Equal(t, []string{"Be short."}, report.System)
	require.Equal(t, []string{"message 2: audio", "message 3: foreign_thinking", "message 3: signature of gemini", "message 5: thinking of gemini"}, talk.Left(report))
	raw, err := json.Marshal(params)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "thinking")

	_, _, err = anthropic.Params(talk.Rows(t, `{"role": "user", "content": "secret"}`, `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "tool": "f", "arguments": {}}]}`))
	require.ErrorContains(t, err, `message 2: call "c": it has no result`)
	require.NotContains(t, err.Error(), "secret")
	_, err = anthropic.Message(nil)
	require.Error(t, err)
	_, err = anthropic.Message(&sdk.Message{Content: []sdk.ContentBlockUnion{{Text: "made by hand"}}})
	require.ErrorContains(t, err, "block 1")
}

// Results that failed and that have pictures, and documents, say so.
func TestResults(t *testing.T) {
	t.Parallel()
	params, report, err := anthropic.Params(talk.Rows(t,
		`{"role": "user", "content": [{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQKJSVFT0Y="}, "title": "a.pdf"}, {"type": "text", "text": "q"}]}`,
		`{"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "tool": "f", "arguments": {}}, {"id": "c2", "function": {"name": "g", "arguments": "{\"a\": 1}"}}]}`,
		`{"role": "tool", "tool_call_id": "c2", "name": "g", "content": [{"type": "text", "text": "see"}, {"type": "input_image", "image_url": "data:image/png;base64,`+talk.Picture+`"}]}`,
		`{"role": "tool", "tool_call_id": "c1", "name": "f", "content": "no", "is_error": true}`))
	require.NoError(t, err)
	require.Empty(t, report)
	require.Len(t, params, 3)
	raw, err := json.Marshal(params)
	require.NoError(t, err)
	require.JSONEq(t, `[
		{"role": "user", "content": [{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQKJSVFT0Y="}, "title": "a.pdf"}, {"type": "text", "text": "q"}]},
		{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}, {"type": "tool_use", "id": "c2", "name": "g", "input": {"a": 1}}]},
		{"role": "user", "content": [
			{"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "see"}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "`+talk.Picture+`"}}]},
			{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "no"}], "is_error": true}]}]`, string(raw))
	require.NotNil(t, params[2].Content[0].OfToolResult)
}

// The usage of a response is found where usage is summed up.
func TestEvent(t *testing.T) {
	t.Parallel()
	var response sdk.Message
	require.NoError(t, json.Unmarshal([]byte(answer), &response))
	sum := talk.Usage(t, anthropic.Event(&response, 1500*time.Millisecond))
	require.Equal(t, "anthropic", sum.Provider)
	require.Equal(t, "claude-opus-5-5", sum.Model)
	require.True(t, sum.Exact)
	require.Equal(t, []int64{1, 15, 5, 3, 7, 2}, []int64{int64(sum.Responses), sum.Input, sum.CacheRead, sum.CacheWrite, sum.Output, sum.Reasoning})
	require.Equal(t, 1500*time.Millisecond, sum.Time)
}
