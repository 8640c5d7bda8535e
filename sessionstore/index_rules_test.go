package sessionstore

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
)

var rulesFlag = flag.Bool("rules", false, "TestIndexRules writes its file")

// ruledMetadata are metadata of all kinds that the rules tell apart.
var ruledMetadata = []string{
	`{}`,
	`{"name": "N", "model": "m", "bundle": "bundle:b", "working_dir": "/w", "created": "2026-11-22T10:00:00+02:00"}`,
	`{"name": 1, "model": "unknown", "bundle": "unknown", "working_dir": "unknown", "created": "soon"}`,
	`{"parent_id": "p"}`, `{"parent_session_id": "p"}`, `{"parent_id": null}`, `{"parent_id": " ", "parent_session_id": "q"}`,
	`{"session_visibility": "internal"}`, `{"session_visibility": "internal", "parent_id": "p"}`,
	`{"session_visibility": "chat"}`, `{"session_visibility": "chat", "parent_id": "p"}`, `{"session_visibility": "other"}`,
	`{"parent_id": "p", "forked_from_turn": 3, "forked_at": "2026-11-22T10:00:00+00:00"}`,
	`{"parent_id": "p", "forked_from_turn": 3}`, `{"parent_id": "p", "forked_from_turn": true, "forked_at": "x"}`,
	`{"forked_from_turn": 0, "forked_at": "x", "session_visibility": "internal"}`,
	`{"fork": {"source_session_id": "p", "turn": 2}}`, `{"created": "2026-11-22"}`, `{"name": "a", "name": "b"}`,
	`{"fork": {"source_session_id": "p", "through_user_turn": 2}, "parent_id": "p"}`, `{"fork": {"source_session_id": " ", "through_user_turn": 2}}`,
	`{"parent_id": "p", "forked_from_turn": -1, "forked_at": "x"}`, `{"parent_id": "p", "forked_from_turn": 3, "forked_at": " "}`,
	`{"session_visibility": "Internal"}`, `{"session_visibility": "chat", "parent_id": ""}`, `{"parent_id": 5, "parent_session_id": "q"}`,
	`{"parent_id": "` + strings.Repeat("p", 8195) + `"}`, `{"parent_id": "` + strings.Repeat("ü", 8195) + `"}`,
	`{"parent_id": "p", "conflict_of": "p", "forked_from_turn": 3, "forked_at": "x"}`, `{"parent_id": "q", "conflict_of": "p", "forked_from_turn": 3, "forked_at": "x"}`,
	`{"import": {"tool": "claude"}}`,
	`{"import": "claude"}`,
	`{"bundle": "bundle:"}`, `{"bundle": "bundle:bundle:b"}`, `{"created": "2026-11-22T10:00:00.5Z"}`, `{"created": 1763805600}`,
}

// ruledRows are messages of all kinds that the rules tell apart.
var ruledRows = []string{
	`{"role": "user", "content": "hello"}`, `{"role": "user", "content": " \u202e two\nlines\u0007 "}`,
	`{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "block"}]}`,
	`{"role": "user", "content": "<system-reminder>r"}`, `{"role": "user", "content": "<system-reminder source=\"x\">r", "metadata": {"ephemeral": true}}`,
	`{"role": "user", "content": "x", "tool_call_id": null}`, `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]}`,
	`{"role": "user", "content": ""}`, `{"role": "user"}`, `{"role": "User", "content": "x"}`,
	`{"role": "assistant", "content": "x", "tool_calls": [{"id": "a"}, {"id": "b"}, {}]}`,
	`{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}`,
	`{"role": "tool", "tool_call_id": "a", "content": "x"}`, `{"role": "system", "content": "x"}`, `[1]`, `5`, ` `,
	`{"role": "user", "content": "x", "metadata": {"ephemeral": true}}`, `{"role": "user", "content": "x", "metadata": {"ephemeral": 0}}`,
	`{"role": "user", "content": " \n<system-reminder>r"}`, `{"role": "user", "content": "\u003csystem-reminder>r"}`, `{"role": "user", "content": "<System-reminder>"}`,
	`{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "<system-reminder>r"}]}`,
	`{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "tool_result", "tool_call_id": "b", "content": "y"}]}`,
	`{"role": "user", "content": [{"type": "tool_result", "content": "y"}]}`, `{"role": "user", "content": [{"type": "tool_result", "id": 5}]}`,
	`{"role": "user", "content": [{"type": "function_call_output", "call_id": "b"}]}`, `{"role": "user", "content": []}`,
	`{"role": "user", "content": {"type": "text", "text": "x"}}`, `{"role": "user", "content": ["x"]}`, `{"role": "user", "content": "x", "role": "tool"}`,
	`{"role": "user", "content": "` + strings.Repeat("a", 505) + `"}`, `{"role": "user", "content": "` + strings.Repeat("ü", 505) + `"}`,
	`{"role": "assistant", "content": [{"type": "tool_use", "id": "c"}], "tool_calls": [{"id": "c"}, {"id": 5}, "d"]}`,
	`{"role": "assistant", "tool_calls": [{"id": "\u0061"}]}`, `{"role": "tool", "tool_call_id": 5}`, `{"role": "developer", "content": "x"}`,
	`{"role": "user", "content": [{"type": "image", "source": {"data": "bm8gcGljdHVyZQ=="}}]}`, `{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lGODlhAQACAAAAACwAAAAAAQABAAACAQAAOw=="}}]}`,
	"{\"role\": \"user\", \"content\": \"a\"}\r{\"role\": \"user\", \"content\": \"b\"}", `{"role": "user", "content": "x"} y`,
}

// ruledMessages tells of each message in text what the index of a large transcript
// is made of.
func ruledMessages(text string) (told string) {
	reader := newIndexReader(true)
	for line := range jsonl.Lines([]byte(text + "\n")) {
		_ = reader.parse(line, func(row index.Row) { // a damaged line has no messages
			told += fmt.Sprintf("\tbegins %t, prompt %t, calls %v, results %v, sum %x\n", row.Begins, row.Prompt, row.Calls(), row.Results(), row.Sum.Bytes())
		})
	}
	return told
}

// TestIndexRules compares what becomes of content with what became of it when
// the number of the rules was last raised: an entry that was made by other rules
// must not be believed. Whoever adds content without a change of the rules removes
// the file first.
func TestIndexRules(t *testing.T) {
	t.Parallel()
	got := fmt.Sprintf("rules %d\n", index.Rules)
	for _, text := range ruledMetadata {
		md, err := ParseMetadata([]byte(text))
		require.NoError(t, err)
		for _, id := range []string{"s", "s_sub"} {
			got += fmt.Sprintf("%s of %s: %+v\n", text, id, aboutOf(id, md))
		}
	}
	for _, text := range append([]string{strings.Join(ruledRows[:len(ruledRows)-1], "\n")}, ruledRows...) {
		lines := newIndexReader(false)
		facts, err := index.Count([]byte(text+"\n"), lines.parse)
		if err != nil {
			facts, lines.prompt = index.Facts{}, "damaged"
		}
		got += fmt.Sprintf("%q: %+v %q\n", text, facts, lines.prompt)
		got += ruledMessages(text)
	}
	for _, long := range []string{"p", "ü", "a"} {
		got = strings.ReplaceAll(got, strings.Repeat(long, 100), long+"×100 ")
	}
	const file = "testdata/index_rules.txt"
	was, err := os.ReadFile(file)
	require.True(t, err == nil || *rulesFlag, err)
	head, _, _ := strings.Cut(string(was), "\n")
	if got != string(was) && head != fmt.Sprint("rules ", index.Rules) && *rulesFlag {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	require.Equal(t, string(was), got, "the rules have changed: raise index.Rules, then run this test with -rules")
}
