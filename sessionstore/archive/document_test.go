package archive

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var conversationLines = []string{
	`{"role": "user", "content": "show me\n</script><script>alert(1)</script>", "metadata": {"timestamp": "2026-01-02T03:04:05.000+00:00"}}`,
	`{"role": "assistant", "content": "Here:\n` + "```" + `go\nx := 1 < 2", "thinking_text": "hm hunter2", "tool_calls": [{"id": "a", "tool": "bash", "arguments": {"command": "cat k"}}, {"id": "b", "tool": "read", "arguments": {}}]}`,
	`{"role": "tool", "tool_call_id": "a", "content": "` + "```` is inside" + `\nhunter2"}`,
	`{"role": "user", "content": "<system-reminder>be good</system-reminder>"}`,
	`{"role": "assistant", "content": "` + `a \u0007bell \u202ereversed"}`,
	`{"role": "tool", "tool_call_id": "nobody", "content": "stray"}`,
	`{"role": "user", "content": ""}`,
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	const want = "# A \\*name\\* \\<b\\>\n" + `
- Session: ` + "`s-1`" + `
- Created: ` + "`2026-01-02T03:04:05+00:00`" + `
- Bundle: ` + "`dev`" + `
- Length: ` + "`3 turns, 7 messages`" + `

**Note:** Calls and results of tools do not match.

## Turn 1

**User** · 2026-01-02 03:04:05 UTC

> show me
> &lt;/script>&lt;script>alert(1)&lt;/script>

**Assistant**

> *Thinking*
>
> hm hunter2

Here:
` + "```go\nx := 1 < 2\n```" + `

Calls ` + "`bash`:\n\n```json\n" + `{"command": "cat k"}` + "\n```\n\nResult:\n\n`````\n```` is inside\nhunter2\n`````" + `

Calls ` + "`read`, which has no result:\n\n```json\n{}\n```" + `

## Turn 2

**Reminder**

> &lt;system-reminder>be good&lt;/system-reminder>

**Assistant**

a ` + "\ufffdbell \ufffdreversed" + `

**Tool**

Result without a call:

` + "```\nstray\n```" + `

## Turn 3

**User**
`
	require.Equal(t, want, show(t, session(t, conversationLines...), WriteOptions{}))

	less := show(t, session(t, conversationLines...), WriteOptions{NoTools: true, NoThinking: true, NoReminders: true})
	for _, text := range []string{"Thinking", "bash", "be good", "stray", "hunter2"} {
		require.NotContains(t, less, text)
	}
	require.Contains(t, less, "show me")
}

// TestHTML looks for tags that are not those of the page.
func TestHTML(t *testing.T) {
	t.Parallel()
	page := show(t, session(t, conversationLines...), WriteOptions{Format: HTML})
	require.True(t, strings.HasPrefix(page, "<!doctype html>"))
	require.True(t, strings.HasSuffix(page, "</html>\n"))
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<b>\n")
	require.Contains(t, page, "&lt;script&gt;alert(1)")
	require.Contains(t, page, "A *name* &lt;b&gt;")
	require.NotContains(t, page, "\u202e")
	require.NotRegexp(t, `(?i)(src|href)\s*=\s*"?(https?:|//|data:|javascript:)`, page, "nothing is loaded")
	require.Contains(t, page, `default-src 'none'`)
	for _, tag := range []string{"article", "details", "pre", "div", "main", "nav", "ol", "dl", "h2"} {
		open := regexp.MustCompile("<"+tag+`[\s>]`).FindAllString(page, -1)
		require.Equal(t, len(open), strings.Count(page, "</"+tag+">"), tag)
	}
	require.Equal(t, 7-1, strings.Count(page, "<article"), "the result stands with its call")
	require.Equal(t, 3, strings.Count(page, `<h2 id="turn-`))
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	s := session(t, conversationLines...)
	require.NoError(t, s.Metadata.Set("description", "hunter2"))
	for _, f := range []Format{Markdown, HTML} {
		text := show(t, s, WriteOptions{Format: f, Redact: secrets{}})
		require.NotContains(t, text, "hunter2")
		require.Contains(t, text, "redacted")
		require.Contains(t, text, "What looks like a secret was replaced.")
	}
	_, err := newDocument(t.Context(), s, nil, &WriteOptions{Redact: breaking{}})
	require.ErrorContains(t, err, "redact message 1")
	require.ErrorIs(t, err, ErrRedacted)
}

type breaking struct{}

func (breaking) Line([]byte) []byte { return []byte("{") }

func TestDamagedAndEmpty(t *testing.T) {
	t.Parallel()
	s := session(t)
	s.Recovered = &sessionstore.Recovery{}
	d, err := newDocument(t.Context(), s, sessionstore.ErrCorrupt, &WriteOptions{})
	require.NoError(t, err)
	require.Len(t, d.Notes, 2)
	require.Contains(t, show(t, s, WriteOptions{Format: HTML}), "0 turns, 0 messages")
	require.Contains(t, show(t, &sessionstore.Session{ID: "x`y"}, WriteOptions{}), "# Session x\\`y\n\n- Session: ``x`y``\n")
}
