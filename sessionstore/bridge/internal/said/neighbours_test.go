package said

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/strict"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const gpt = `{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABo"}`

// TestNeighbours has answers and files that one provider alone knows. Servers that keep to the
// documents take what each is sent of them.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	user := parse(t, `{"role": "user", "content": "a"}`)[0]
	answer := func(f *Format, pieces ...string) sessionstore.Message { return stored(t, f, pieces...) }
	file := func(block string) sessionstore.Message {
		return parse(t, `{"role": "user", "content": [`+block+`, {"type": "text", "text": "see"}]}`)[0]
	}
	base64 := func(media, data string) string {
		return `{"type": "document", "title": "a", "source": {"type": "base64", "media_type": "` + media + `", "data": "` + data + `"}}`
	}
	const without = "\x00" // the files are left out
	for name, c := range map[string]struct {
		row  sessionstore.Message
		want [3]string // what is sent to Anthropic, OpenAI and Gemini
	}{
		"a picture alone":      {answer(Gemini, `{"inlineData": {"mimeType": "image/png", "data": "`+picture+`"}}`), [3]string{"", "left out", `"parts":[{"inlineData":{"data":"` + picture + `","mimeType":"image/png"}}]`}},
		"code alone":           {answer(Gemini, `{"executableCode": {"code": "1"}}`), [3]string{"empty", "", `"parts":[{"executableCode":{"code":"1"}}]`}},
		"a shell":              {answer(OpenAI, gpt, `{"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {}}`), [3]string{"", "left out", "empty"}},
		"a shell of OpenAI":    {answer(OpenAI, gpt, `{"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {}}`, `{"type": "shell_call_output", "id": "so_1", "call_id": "c", "output": []}`, said1), [3]string{"hi", "shell_call_output", "hi"}},
		"a search":             {answer(OpenAI, gpt, `{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}`, said1), [3]string{"hi", "ws_1", "hi"}},
		"a refusal":            {answer(OpenAI, `{"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}`), [3]string{"No.", `"refusal":"No."`, "No."}},
		"thinking of Python's": {parse(t, `{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "QUJD"}, {"type": "text", "text": "t"}]}`)[0], [3]string{`"QUJD"`, `"t"`, `"parts":[{"text":"t"}]`}},
		"redacted thinking":    {answer(Anthropic, `{"type": "redacted_thinking", "data": "zz"}`), [3]string{`"data":"zz"`, "left out", "empty"}},
		"hidden thinking":      {answer(Anthropic, `{"type": "thinking", "thinking": "", "signature": "QUJD"}`, `{"type": "text", "text": "t"}`), [3]string{`"thinking":""`, `"t"`, `"t"`}},
		"a table":              {file(base64("text/csv", "YSxi")), [3]string{`"data":"a,b"`, "data:text/csv;base64,YSxi", "text/csv"}},
		"a document of Word":   {file(base64("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "QUJD")), [3]string{without, "wordprocessingml", without}},
		"a sound":              {file(base64("audio/wav", "QUJD")), [3]string{without, "audio/wav", "audio/wav"}},
		"no base64":            {file(base64("application/pdf", "%%")), [3]string{without, "", without}},
		"a file at Anthropic":  {file(`{"type": "document", "source": {"type": "file", "file_id": "f_1"}}`), [3]string{"f_1", without, without}},
		"a file at OpenAI":     {file(`{"type": "input_file", "file_id": "f_1"}`), [3]string{without, `"file_id":"f_1"`, without}},
		"a picture at OpenAI":  {file(`{"type": "input_image", "file_id": "f_1"}`), [3]string{without, `"file_id":"f_1"`, without}},
		"parts of a document":  {file(`{"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "x1"}]}}`), [3]string{`"type":"content"`, `"x1"`, `"x1"`}},
		"a result of search":   {file(`{"type": "search_result", "source": "s1", "title": "t", "content": [{"type": "text", "text": "x1"}]}`), [3]string{`"s1"`, `"x1"`, `"x1"`}},
		"an unknown type":      {file(`{"type": "input_audio", "input_audio": {"data": "QUJD", "format": "wav"}}`), [3]string{without, without, without}},
	} {
		for i, f := range formats {
			list := json.RawMessage(asked(t, f, user, answer(Anthropic, `{"type": "text", "text": "b"}`), c.row, user))
			if c.row.Role() == "assistant" {
				list = json.RawMessage(asked(t, f, user, c.row, user))
			}
			body, err := json.Marshal([]object{
				{"model": "m", "max_tokens": 100, "messages": list}, {"model": "m", "store": false, "input": list}, {"contents": list},
			}[i])
			require.NoError(t, err)
			api := []strict.API{strict.Anthropic, strict.Responses, strict.Gemini}[i]
			require.Empty(t, strict.Judge(api, strict.Limits{NoPrefill: true}, body), "%s: %s", name, body)
			if c.want[i] != without {
				require.Contains(t, string(body), c.want[i], "%s of %s", name, f.Name)
				continue
			}
			require.NotRegexp(t, `QUJD|f_1|%%`, string(body), "%s of %s", name, f.Name)
			require.Contains(t, string(body), `"see"`)
		}
	}
}
