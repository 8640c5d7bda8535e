package said

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// back makes messages of the messages of a request: the way that a program goes which has
// a conversation in the types of an SDK. Answers are read by [Format.Row].
func back(t testing.TB, f *Format, request []json.RawMessage) (rows []sessionstore.Message) {
	t.Helper()
	var answer []json.RawMessage
	flush := func() {
		if answer != nil {
			m, err := f.Row([][]json.RawMessage{answer}, "m", noon)
			require.NoError(t, err)
			rows = append(rows, m)
		}
		answer = nil
	}
	add := func(blocks []object) {
		flush()
		m, err := sessionstore.NewMessage(object{"role": "user", "content": blocks})
		require.NoError(t, err)
		rows = append(rows, m)
	}
	for _, raw := range request {
		role := text(raw, "role")
		switch {
		case f == OpenAI && role == "user":
			var blocks []object
			for part := range pyjson.Elements(member(raw, "content")) {
				blocks = append(blocks, shown(part))
			}
			add(blocks)
		case f == OpenAI && text(raw, "type") == "function_call_output":
			add([]object{{"type": "tool_result", "tool_use_id": text(raw, "call_id"), "content": shownAll(member(raw, "output"))}})
		case f == OpenAI && role == "assistant":
			answer = append(answer, json.RawMessage(fmt.Sprintf(`{"type": "message", "content": [{"type": "output_text", "text": %s}]}`, member(raw, "content"))))
		case f == OpenAI:
			answer = append(answer, raw)
		case role == "assistant" || role == "model":
			for piece := range pyjson.Elements(slices.Concat(member(raw, "content"), member(raw, "parts"))) {
				answer = append(answer, piece)
			}
			flush()
		case f == Anthropic:
			var blocks []object
			for piece := range pyjson.Elements(member(raw, "content")) {
				var o object
				require.NoError(t, json.Unmarshal(piece, &o))
				blocks = append(blocks, o)
			}
			add(blocks)
		default:
			var blocks []object
			for part := range pyjson.Elements(member(raw, "parts")) {
				blocks = append(blocks, geminiShown(part))
			}
			add(blocks)
		}
	}
	flush()
	return rows
}

func shownAll(raw []byte) any {
	if pyjson.KindOf(raw) == pyjson.String {
		return pyjson.Text(raw)
	}
	list := []object{}
	for part := range pyjson.Elements(raw) {
		list = append(list, shown(part))
	}
	return list
}

// shown returns the block for a part of OpenAI's input.
func shown(part []byte) object {
	if text(part, "type") == "input_text" {
		return object{"type": "text", "text": text(part, "text")}
	}
	var o object
	_ = json.Unmarshal(part, &o)
	return o // such blocks are stored, too
}

func geminiShown(part []byte) object {
	file := func(part []byte) object {
		data, at := member(part, "inlineData"), member(part, "fileData")
		source, media := object{"type": "base64", "media_type": text(data, "mimeType"), "data": text(data, "data")}, text(data, "mimeType")
		if at != nil {
			source, media = object{"type": "url", "url": text(at, "fileUri"), "media_type": text(at, "mimeType")}, text(at, "mimeType")
		}
		if strings.HasPrefix(media, "image/") {
			return object{"type": "image", "source": source}
		}
		return object{"type": "document", "source": source}
	}
	if response := member(part, "functionResponse"); response != nil {
		said := member(response, "response")
		result := object{"type": "tool_result", "tool_use_id": text(response, "id"), "is_error": member(said, "error") != nil}
		content := []object{{"type": "text", "text": text(said, "output") + text(said, "error")}}
		for part := range pyjson.Elements(member(response, "parts")) {
			content = append(content, file(part))
		}
		result["content"] = content
		return result
	}
	if text(part, "text") != "" {
		return object{"type": "text", "text": text(part, "text")}
	}
	return file(part)
}

// says returns what messages say, a line for each block, as far as f can say it. Messages
// of one side that follow each other are one.
func says(f *Format, rows []sessionstore.Message) (list []string) {
	side := ""
	names := map[string]string{}
	for _, m := range rows {
		if m.Role() == "system" || m.Role() == "developer" {
			continue
		}
		now := map[bool]string{true: "assistant", false: "user"}[m.Role() == "assistant"]
		var lines []string
		lost := false
		by := owner(m)
		for _, b := range Read(m) {
			if b.Kind == Thinking && by != f.Name && (by != "" || f == Gemini) {
				lost = true
			} else if line := b.line(f, names); line != "" {
				lines = append(lines, line)
			} else if b.Kind != Text {
				lost = true
			}
		}
		if lines == nil && lost {
			lines = []string{"text (A part of this message was left out.)"}
		}
		if lines != nil && now != side {
			list = append(list, now)
			side = now
		}
		list = append(list, lines...)
	}
	return list
}

// sorted returns a value with its members in order.
func sorted(raw []byte) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(raw)
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// line returns what a block says, "" where f cannot say it.
func (b Block) line(f *Format, names map[string]string) string {
	sign := func() string {
		if f == Gemini && isBase64(b.Sign) {
			return " signed " + b.Sign
		}
		return ""
	}
	switch b.Kind {
	case Text:
		if b.Text == "" {
			return ""
		}
		return "text " + b.Text + sign()
	case Thinking:
		switch {
		case f == Anthropic && b.Item == "" && b.Sign+b.Redacted != "":
			return fmt.Sprintf("thinking %s %s %s", b.Text, b.Sign, b.Redacted)
		case f == OpenAI && b.Item != "":
			return fmt.Sprintf("thinking %s %s %s", b.Text, b.Item, b.Sealed)
		case f == Gemini && isBase64(b.Sign) && b.Item == "":
			return "thinking " + b.Text + sign()
		}
		return ""
	case Call:
		names[b.ID] = b.Name
		return fmt.Sprintf("call %s %s %s%s", b.ID, b.Name, sorted(b.Args), sign())
	case Result:
		var texts []string
		files := ""
		for _, c := range b.Content {
			switch {
			case c.Kind == Text:
				texts = append(texts, c.Text)
			case c.Kind == File && c.File.Plain != "" && f != Anthropic:
				texts = append(texts, c.File.Plain)
			default:
				files += " " + c.line(f, names)
			}
		}
		return fmt.Sprintf("result %s %s %t %q%s", b.ID, names[b.ID], b.Failed && f != OpenAI, strings.Join(texts, "\n"), files)
	case File:
		s := b.File
		switch {
		case s.Plain != "" && f != Anthropic:
			return "text " + s.Plain
		case s.URL != "" && !s.Image: // its media type is not everywhere
			return "document at " + s.URL
		case s.URL != "":
			return "image at " + s.URL
		case s.Data+s.Plain+s.ID == "" || s.ID != "" && f != Anthropic:
			return ""
		}
		return fmt.Sprintf("file %t %s %s %s%s", s.Image, s.Media, s.Data, s.Plain, s.ID)
	}
	return ""
}
