package projects_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// counts returns the number of hits in the session p/s by [sessionstore.Store.Search], and
// by [projects.Projects.Search].
func counts(t *testing.T, p *projects.Projects, sought sessionstore.Sought) (one, all int) {
	t.Helper()
	st, err := p.Store("p")
	require.NoError(t, err)
	for _, err := range st.Search(t.Context(), "s", sought) {
		require.NoError(t, err)
		one++
	}
	hits, failed := searched(t.Context(), p, sought, projects.Query{})
	require.Empty(t, failed)
	return one, len(hits)
}

// TestSearchAgrees looks for one text in a session, and in all projects: the hits are the same.
func TestSearchAgrees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, `{"created": "2026-01-01T00:00:00Z"}`, dir, "p", "sessions", "s", metadataFile)
	write(t, strings.Join([]string{
		user(`what is \"the city\"?`),
		`{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "tool": "weather", "arguments": {"city":"Rome","at":1.50,"dir": "C:\\tmp"}}]}`,
		`{"role": "assistant", "content": "", "tool_calls": [{"id": "2", "type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"grep -n \\\"func main\\\" \\u003c caf\\u00e9\\nls\"}"}}]}`,
		`{"role": "user", "content": [{"type": "text", "text": "first block"}, {"type": "text", "text": "second \u0062lock\ttab"}]}`,
		`{"role": "assistant", "content": [{"type": "tool_use", "id": "3", "name": "edit", "input": {"old": "a\/b \"q\"", "new": ["x", {"deep key": null}]}}]}`,
		`{"role": "assistant", "content": "ΟΔΟΣΑ ǅ 300 µm \ud83d\ude00 \u212a"}`,
		`{"role": "assistant", "content": "", "tool_calls": [{"id": "4", "tool": "torn", "arguments": "{\"a\": \"never ends"}]}`,
	}, "\n")+"\n", dir, "p", "sessions", "s", transcriptFile)
	p := openProjects(t, dir)
	for _, tt := range []struct {
		text  string
		tools bool
		hits  int
	}{
		{`the city`, false, 1},
		{`"the city"`, false, 1},
		{`Rome`, false, 0},
		{`Rome`, true, 1},
		{`"city"`, true, 1},
		{`"Rome"`, true, 1},
		{`weather {"city`, true, 1},
		{`{"city":"Rome","at":1.50`, true, 1},
		{`1.50`, true, 1},
		{`C:\\tmp`, true, 1},
		{`C:\tmp`, true, 1},
		{"first block\nsecond", false, 1},
		{"block\tTAB", false, 1},
		{"second block", false, 1},
		{`grep -n "func main"`, true, 1},
		{`grep -n "func main"`, false, 0},
		{`main" < café` + "\nLS", true, 1},
		{`café`, true, 1},
		{`\u00e9`, true, 1},
		{`a/b "q"`, true, 1},
		{`deep key`, true, 1},
		{`edit {"old"`, true, 1},
		{`ΟΔΟΣ`, false, 1},
		{`οδος`, false, 1},
		{`Ǆ`, false, 1},
		{`μM`, false, 1},
		{`😀`, false, 1},
		{`k`, false, 2},
		{`never ends`, true, 1},
		{`absent`, true, 0},
		{"\n", false, 1},
		{`"`, false, 1},
	} {
		one, all := counts(t, p, sessionstore.Sought{Text: tt.text, Tools: tt.tools})
		require.Equal(t, tt.hits, one, "in one session: %q", tt.text)
		require.Equal(t, tt.hits, all, "in all: %q", tt.text)
	}
	_, failed := searched(t.Context(), p, sessionstore.Sought{Text: "a\xff"}, projects.Query{})
	require.ErrorContains(t, failed["/"], "not UTF-8")
}

// TestSearchAgreesAtRandom looks for parts of random texts, as both searches see them.
func TestSearchAgreesAtRandom(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	words := []string{"a", "Be", "see", " ", "\n", `"`, `\`, "/", "é", "Σ", "ς", "<", "&", "1.50", "-0", "\u007f", "😀", "\u2028", "{", ":", ", ", "\t", "K", "İ", "µ"}
	text := func() string {
		var b strings.Builder
		for range 1 + rnd.IntN(8) {
			b.WriteString(words[rnd.IntN(len(words))])
		}
		return b.String()
	}
	found := 0
	for range 30 {
		var rows, texts []string
		add := func(raw []byte, err error) {
			require.NoError(t, err)
			rows = append(rows, string(raw))
		}
		for range 5 {
			one, two := text(), text()
			arguments, err := json.Marshal(map[string]any{one: []string{two}})
			require.NoError(t, err)
			texts = append(texts, one, two, one+"\n"+two, "run "+string(arguments))
			add(json.Marshal(map[string]any{"role": "user", "content": one}))
			add(json.Marshal(map[string]any{"role": "user", "content": []any{map[string]string{"type": "text", "text": one}, map[string]string{"type": "text", "text": two}}}))
			add(json.Marshal(map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "1", "tool": "run", "arguments": string(arguments)}}}))
			add(json.Marshal(map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"id": "1", "tool": "run", "arguments": json.RawMessage(arguments)}}}))
		}
		dir := t.TempDir()
		write(t, `{"created": "2026-01-01T00:00:00Z"}`, dir, "p", "sessions", "s", metadataFile)
		write(t, strings.Join(rows, "\n")+"\n", dir, "p", "sessions", "s", transcriptFile)
		p := openProjects(t, dir)
		for range 20 {
			runes := []rune(texts[rnd.IntN(len(texts))])
			from := rnd.IntN(len(runes))
			sought := sessionstore.Sought{Text: string(runes[from : from+1+rnd.IntN(len(runes)-from)]), Tools: rnd.IntN(2) == 0}
			one, all := counts(t, p, sought)
			require.Equal(t, one, all, "%q, with tools: %v", sought.Text, sought.Tools)
			found += one
		}
	}
	require.Greater(t, found, 500)
}
