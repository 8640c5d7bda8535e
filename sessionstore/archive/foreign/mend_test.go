package foreign

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// picture returns a block with a PNG.
func picture(t testing.TB, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"}}`
}

// asked returns the row of a prompt, and answered that of an answer.
func asked(text string) string { return fmt.Sprintf(`{"role": "user", "content": %q}`, text) }

func answered(text string) string { return fmt.Sprintf(`{"role": "assistant", "content": %q}`, text) }

func calling(ids ...string) string {
	var calls []string
	for _, id := range ids {
		calls = append(calls, fmt.Sprintf(`{"id": %q, "tool": "bash", "arguments": {"command": "x"}}`, id))
	}
	return `{"role": "assistant", "content": "", "tool_calls": [` + strings.Join(calls, ", ") + `]}`
}

func result(id, text string) string {
	return fmt.Sprintf(`{"role": "tool", "name": "bash", "tool_call_id": %q, "content": %q}`, id, text)
}

// refusedRows are sessions that a provider would refuse.
func refusedRows(t testing.TB) map[string][]string {
	bad := `{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "bm8gcGljdHVyZQ=="}}`
	shows := func(pictures ...string) string {
		return `{"role": "user", "content": [{"type": "text", "text": "See"}, ` + strings.Join(pictures, ", ") + `]}`
	}
	return map[string][]string{
		"an answer first":           {answered("I begin"), asked("then"), answered("done")},
		"a result first":            {result("c0", "orphan"), asked("go"), answered("done")},
		"two calls of one id":       {asked("go"), calling("c1"), result("c1", "one"), calling("c1"), result("c1", "two"), answered("done")},
		"blank rows":                {asked("go"), answered(""), asked("   "), answered("done"), asked(""), answered("end")},
		"an open call":              {asked("go"), calling("c1", "c2"), result("c1", "one")},
		"an open call before":       {asked("go"), calling("c1"), asked("on"), answered("done")},
		"a late result":             {asked("go"), calling("c1"), asked("while it ran"), result("c1", "late"), answered("done")},
		"a result twice":            {asked("go"), calling("c1"), result("c1", "one"), result("c1", "two"), answered("done")},
		"a result twice at the end": {asked("go"), calling("c1"), result("c1", "one"), answered("done"), result("c1", "two")},
		"prompts in a row":          {asked("a"), asked("b"), answered("c"), answered("d"), asked("e"), answered("f")},
		"an odd id":                 {asked("go"), calling("a call|" + strings.Repeat("x", 80)), result("a call|"+strings.Repeat("x", 80), "ok"), answered("done")},
		"a large picture":           {shows(picture(t, 9000, 10)), answered("seen")},
		"no picture":                {shows(bad), answered("seen"), shows(bad, picture(t, 8, 8)), answered("seen")},
	}
}

func accepted(t testing.TB, a *away) int {
	t.Helper()
	target := Target(a.tool)
	refused, err := target.CheckAll(a.st.Messages(t.Context(), a.id))
	require.NoError(t, err)
	return len(slices.DeleteFunc(refused, func(r accept.Refusal) bool { return r.Disputed }))
}

func (a *away) exportWith(opts *ExportOptions) (string, Exported) {
	a.t.Helper()
	var b bytes.Buffer
	done, err := exportLines(a.t, a.st, a.id, a.tool, &b, opts)
	require.NoError(a.t, err)
	return b.String(), done
}

// requireSent requires that the conversation of a tool's file is one that its provider takes,
// by the lines alone: what the tool or the import mends is not mended here, but for the reasons
// that are named.
func (a *away) requireSent(file string, but ...accept.Reason) {
	a.t.Helper()
	rows := []string{}
	for line := range strings.Lines(file) {
		if row := a.sent(line); row != "" {
			rows = append(rows, row)
		}
	}
	b := newAway(a.t, openProjects(a.t), "sent", a.tool, rows...)
	refused, err := Target(a.tool).CheckAll(b.st.Messages(a.t.Context(), b.id))
	require.NoError(a.t, err)
	for _, r := range refused {
		require.True(a.t, r.Disputed || slices.Contains(but, r.Reason), r.String())
	}
}

// sent returns the message that a tool sends of a line that an export made, "" for none.
func (a *away) sent(line string) string {
	type object = map[string]any
	if a.tool == OpenCode {
		return a.sentByOpenCode(line)
	}
	l := struct {
		Kind    string `json:"type"`
		Message json.RawMessage
		Content string
		Data    json.RawMessage
		Payload struct {
			Type, Role, Name, Arguments string
			CallID                      string `json:"call_id"`
			Content                     []object
			Output                      any
		}
	}{}
	require.NoError(a.t, json.Unmarshal([]byte(line), &l))
	p := l.Payload
	var row any
	switch {
	case a.tool == Claude && (l.Kind == "user" || l.Kind == "assistant"):
		return string(l.Message)
	case a.tool == Copilot:
		if row = a.sentByCopilot(l.Kind, l.Data); row == nil {
			return ""
		}
	case a.tool == Pi && l.Kind == "message":
		row = a.sentByPi(l.Message)
	case l.Kind == "custom_message":
		row = object{"role": "user", "content": l.Content}
	case l.Kind != "response_item" || p.Role == "developer":
		return ""
	case p.Type == "message":
		for i, c := range p.Content {
			p.Content[i] = sentByCodex(c)
		}
		row = object{"role": p.Role, "content": p.Content}
	case p.Type == "function_call":
		row = object{"role": "assistant", "content": "", "tool_calls": []any{object{"id": p.CallID, "tool": p.Name, "arguments": json.RawMessage(p.Arguments)}}}
	case p.Type == "function_call_output":
		if parts, ok := p.Output.([]any); ok {
			for i, c := range parts {
				parts[i] = sentByCodex(c.(object))
			}
		}
		row = object{"role": "tool", "tool_call_id": p.CallID, "content": p.Output}
	default:
		return ""
	}
	b, err := json.Marshal(row)
	require.NoError(a.t, err)
	return string(b)
}

// sentByCodex returns what Codex sends of a part of a message or of a result.
func sentByCodex(part map[string]any) map[string]any {
	if url, _ := part["image_url"].(string); url != "" {
		kind, data, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
		return map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": kind, "data": data}}
	}
	part["type"] = "text"
	return part
}

// sentByPi returns what pi sends of its own message.
func (a *away) sentByPi(message []byte) any {
	type object = map[string]any
	m := struct {
		Role, ToolCallID string
		Content          []struct {
			Type, Text, Data, MimeType, ID, Name string
			Arguments                            json.RawMessage
		}
	}{}
	require.NoError(a.t, json.Unmarshal(message, &m))
	content, calls := []any{}, []any{}
	for _, c := range m.Content {
		switch c.Type {
		case "toolCall":
			calls = append(calls, object{"id": c.ID, "tool": c.Name, "arguments": c.Arguments})
		case "image":
			content = append(content, object{"type": "image", "source": object{"type": "base64", "media_type": c.MimeType, "data": c.Data}})
		default:
			content = append(content, object{"type": "text", "text": c.Text})
		}
	}
	row := object{"role": m.Role, "content": content}
	if len(calls) > 0 {
		row["tool_calls"] = calls
	}
	if m.Role == "toolResult" {
		row = object{"role": "tool", "tool_call_id": m.ToolCallID, "content": content}
	}
	return row
}

// sentByCopilot returns what the GitHub Copilot CLI sends of its own event, nil for none.
func (a *away) sentByCopilot(kind string, data []byte) any {
	type object = map[string]any
	type picture struct{ Data, MimeType string }
	d := struct {
		Content, ToolCallID string
		Attachments         []picture
		ToolRequests        []struct {
			ToolCallID, Name string
			Arguments        json.RawMessage
		}
		Result struct {
			Content             string
			BinaryResultsForLlm []picture
		}
	}{}
	require.NoError(a.t, json.Unmarshal(data, &d))
	content := func(said string, pictures []picture) (all []any) {
		if said != "" {
			all = append(all, object{"type": "text", "text": said})
		}
		for _, p := range pictures {
			all = append(all, object{"type": "image", "source": object{"type": "base64", "media_type": p.MimeType, "data": p.Data}})
		}
		return all
	}
	switch kind {
	case "user.message":
		return object{"role": "user", "content": content(d.Content, d.Attachments)}
	case "tool.execution_complete":
		return object{"role": "tool", "tool_call_id": d.ToolCallID, "content": content(d.Result.Content, d.Result.BinaryResultsForLlm)}
	case "assistant.message":
		calls := []any{}
		for _, c := range d.ToolRequests {
			calls = append(calls, object{"id": c.ToolCallID, "tool": c.Name, "arguments": c.Arguments})
		}
		row := object{"role": "assistant", "content": d.Content}
		if len(calls) > 0 {
			row["tool_calls"] = calls
		}
		return row
	}
	return nil
}

// TestExportMended exports sessions that a provider would refuse, and brings them home: the
// provider takes what was exported, the session stays as it is, and only what is new comes.
func TestExportMended(t *testing.T) {
	t.Parallel()
	for name, rows := range refusedRows(t) {
		for _, tool := range Tools() {
			t.Run(name+"/"+string(tool), func(t *testing.T) {
				t.Parallel()
				a := newAway(t, openProjects(t), "0a0a0a0a-0000-4000-8000-000000000001", tool, rows...)
				ours := a.rows(a.id)
				refused := accepted(t, a) > 0
				a.export()
				file, done := a.exportWith(nil)
				a.requireBegins(original(t, a.path), file)
				a.requireBegins(file, original(t, a.path))
				require.Equal(t, refused, len(done.Changes) > 0)
				a.requireSent(file)
				_, asItIs := a.exportWith(&ExportOptions{AsItIs: true})
				require.Empty(t, asItIs.Changes)
				require.Equal(t, ours, a.rows(a.id))
				a.back()
				require.Equal(t, ours, a.rows(a.id))
				require.Equal(t, []string{a.id}, a.all())

				a.goOn("one")
				a.back()
				require.Equal(t, []string{a.id}, a.all())
				require.True(t, strings.HasPrefix(a.rows(a.id), ours))
				got := strings.Split(a.rows(a.id), "\n")
				require.Equal(t, 1, strings.Count(a.rows(a.id), "one by the user"))
				require.Contains(t, got[len(got)-3], "one by the user")
				require.Contains(t, got[len(got)-2], "one by the assistant")

				if tool == OpenCode && (name == "a result twice at the end" || name == "an open call") {
					return // a call has one result there, in the order of the calls, so there is a further export
				}

				// It goes on here, out, and there, and home again.
				a.say("two")
				ours = a.rows(a.id)
				next, _ := a.exportWith(nil)
				a.requireBegins(next, original(t, a.path))
				a.write(next)
				a.back()
				require.Equal(t, ours, a.rows(a.id))
				a.goOn("three")
				a.back()
				require.Equal(t, []string{a.id}, a.all())
				require.True(t, strings.HasPrefix(a.rows(a.id), ours))
				require.Len(t, strings.Split(a.rows(a.id), "\n"), len(strings.Split(ours, "\n"))+2)
			})
		}
	}
}

// TestExportMendedLater exports sessions as they are, which go on in the tool and come home, and
// then exports them so that the provider takes them.
func TestExportMendedLater(t *testing.T) {
	t.Parallel()
	for name, rows := range refusedRows(t) {
		for _, tool := range ofFiles {
			t.Run(name+"/"+string(tool), func(t *testing.T) {
				t.Parallel()
				a := newAway(t, openProjects(t), "0a0a0a0a-0000-4000-8000-000000000002", tool, rows...)
				a.export()
				file, _ := a.exportWith(&ExportOptions{AsItIs: true})
				a.write(file)
				a.goOn("one")
				a.back()
				all, ours := a.all(), a.rows(a.id)
				require.Equal(t, 1, strings.Count(ours, "one by the user"))
				a.export()
				a.requireBegins(original(t, a.path), file)
				a.back()
				require.Equal(t, ours, a.rows(a.id))
				a.goOn("two")
				a.back()
				require.True(t, strings.HasPrefix(a.rows(a.id), ours))
				require.Equal(t, 1, strings.Count(a.rows(a.id), "two by the user"))
				require.Equal(t, all, a.all())
			})
		}
	}
}

// TestParts compares the messages of parts with what accept makes, of sessions of random rows.
func TestParts(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	for range 500 {
		var rows []sessionstore.Message
		for range random.IntN(9) {
			row := []string{asked("a"), asked(" "), answered("b"), answered(""), calling("c1"), calling("c1", "c2"), calling("x y"), result("c1", "r"), result("c2", "r"), result("x y", "r")}[random.IntN(10)]
			m, err := sessionstore.ParseMessage([]byte(row))
			require.NoError(t, err)
			rows = append(rows, m)
		}
		for _, p := range []accept.Provider{accept.Anthropic, accept.OpenAIChat, accept.OpenAIResponses, accept.Gemini} {
			fixed, err := accept.Fix(p, rows)
			require.NoError(t, err)
			var want, got []string
			for _, m := range fixed.Messages {
				want = append(want, string(m.AppendTo(nil)))
			}
			for _, p := range partsOf(rows, fixed) {
				for _, m := range p.msgs {
					got = append(got, string(m.AppendTo(nil)))
				}
			}
			require.Equal(t, want, got)
		}
	}
}
