package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGists looks at what a page shows of a call before it is opened.
func TestGists(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		`{"path": "a/b.go", "limit": 3}`: "a/b.go",
		`{"limit": 3}`:                   "3",
		`{"all": {"x": [1, 2]}}`:         `{"x": [1, 2]}`,
		`{}`:                             "",
		`{"n": NaN}`:                     `{"n": NaN}`,
		`"bare"`:                         `"bare"`,
		``:                               "",
		`{"text": "cut of`:               `{"text": "cut of`,
		"{\"c\": \"a\\n\\tb \\u001b[31mred\\u0000 c\"}": "a b [31mred c",
		`{"c": "` + strings.Repeat("ä", 300) + `"}`:     strings.Repeat("ä", maxGist/2) + "…",
		`{"c": "<b>\"x\"</b>"}`:                         `<b>"x"</b>`,
	} {
		require.Equal(t, want, oneLine(firstArgument(arguments)), arguments)
	}
}

// called is a message that calls tools with an argument each.
func called(calls ...[2]string) map[string]any {
	var all []any
	for _, c := range calls {
		all = append(all, map[string]any{"id": c[0], "tool": "shell", "arguments": map[string]any{"command": c[1]}})
	}
	return map[string]any{"role": "assistant", "content": "", "tool_calls": all}
}

func answered(id, text string) map[string]any {
	return map[string]any{"role": "tool", "tool_call_id": id, "content": text}
}

// TestFindInFolds finds a text in calls and in results. The page shows a result with
// the call that it answers, wherever it stands.
func TestFindInFolds(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	msgs := []map[string]any{
		user("Which files are there?"),
		called([2]string{"a", "ls -l"}, [2]string{"b", `grep "needle" *`}), answered("b", "none"), answered("a", "a needle, and\nmore"),
		called([2]string{"c", "ls"}), user("a needle?"), answered("c", "the NEEDLE"),
		answered("of none", "x"), answered("of none", "needle"),
		{"role": "user", "content": []any{map[string]any{"type": "text", "text": "and"}, map[string]any{"type": "tool_result", "tool_use_id": "n1", "content": "no"}, map[string]any{"type": "tool_result", "tool_use_id": "n2", "content": "needle"}}},
	}
	s.create(one, nil, msgs...)
	find := func(id, text string) string {
		var got struct {
			Hits []struct {
				N     int
				Folds []int
			}
		}
		s.json(api(id)+"/find?q="+url.QueryEscape(text), &got)
		return fmt.Sprint(got.Hits)
	}
	require.Equal(t, "[{1 [1 0]} {4 [0]} {5 []} {8 [0]} {9 [1]}]", find(one, "needle"))
	require.Equal(t, "[{1 [1]}]", find(one, `grep "needle"`), "as the summary shows it")
	require.Equal(t, "[{1 [0 1]} {4 [0]}]", find(one, "shell"))
	require.Equal(t, "[]", find(one, "never said"))

	var list messageList
	s.json(api(one)+"/messages", &list)
	require.Equal(t, []string{"ls -l", `grep "needle" *`}, list.Rows[1].Gists)
	require.Equal(t, []string{"needle"}, list.Rows[8].Gists)
	require.Equal(t, []string{"no", "needle"}, list.Rows[9].Gists)

	// A long transcript is read message by message, and says the same.
	var out strings.Builder
	enc := json.NewEncoder(&out)
	for i := range len(msgs) {
		require.NoError(t, enc.Encode(msgs[i]))
	}
	require.NoError(t, enc.Encode(user(strings.Repeat("x", longFrom))))
	s.create(two, nil)
	s.write(two, "transcript.jsonl", out.String())
	for _, text := range []string{"needle", "shell", "none"} {
		require.Equal(t, find(one, text), find(two, text))
	}
}

// TestFindsUpToALimit says so where there is more.
func TestFindsUpToALimit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var lines strings.Builder
	for range maxHits + 1 {
		lines.WriteString(`{"role": "user", "content": "x"}` + "\n")
	}
	s.create(one, nil)
	s.write(one, "transcript.jsonl", lines.String())
	var got struct {
		Hits []foundMessage
		More bool
	}
	s.json(api(one)+"/find?q=x", &got)
	require.Len(t, got.Hits, maxHits)
	require.True(t, got.More)
}
