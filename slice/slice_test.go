package slice_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/slice"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		lines []string
		want  []slice.Turn
	}{
		{"none", nil, nil},
		{"before the first", []string{say, ask, say}, []slice.Turn{{1, 3}}},
		{"in a row", []string{ask, ask}, []slice.Turn{{0, 1}, {1, 2}}},
		{"reminder", []string{ask, say, reminder}, []slice.Turn{{0, 2}, {2, 3}}},
		{"result of a block", []string{ask, using("x"), answering("x", moreText), say}, []slice.Turn{{0, 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			msgs := parse(t, tt.lines...)
			require.Equal(t, tt.want, slices.Collect(slice.Turns(msgs)))
			require.Equal(t, len(tt.want), slice.CountTurns(msgs))
			for range slice.Turns(msgs) {
				break
			}
		})
	}
}

func TestIsRealUser(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		ask:                                      true,
		`{"role": "user"}`:                       true,
		reminder:                                 false,
		say:                                      false,
		answering("x", ""):                       false,
		answering("x", moreText):                 true,
		`{"role": "user", "tool_call_id": null}`: false,
		`{"role": "user", "content": [1, {"text": "\u00a0<system-reminder>"}]}`: false,
	} {
		require.Equal(t, want, slice.IsRealUser(parse(t, line)[0]), line)
	}
}

func TestToTurn(t *testing.T) {
	t.Parallel()
	const forked = `"{\"error\": \"Tool execution interrupted by session fork\", \"forked\": true, \"message\": ` +
		`\"This tool call was in progress when the session was forked. The result is not available in this forked session.\"}"`
	const closed = `{"role": "assistant", "content": "The previous tool calls were interrupted by a session fork. Results are not available in this forked session."}`
	interrupted := func(id string) string {
		return `{"role": "tool", "tool_call_id": "` + id + `", "content": ` + forked + `, "name": "f"}`
	}
	orphan := []string{ask, calling("a", "b"), result("a"), ask, calling("c"), ask}
	for _, tt := range []struct {
		name  string
		lines []string
		turn  int
		mode  slice.Orphans
		want  []string
		err   string
	}{
		{"whole", []string{say, ask, say}, 1, slice.Refuse, []string{say, ask, say}, ""},
		{"complete", orphan, 1, slice.Complete, []string{ask, calling("a", "b"), interrupted("b"), result("a")}, ""},
		{"close", orphan, 3, slice.Complete, []string{
			ask, calling("a", "b"), interrupted("b"), result("a"), ask, calling("c"), interrupted("c"), closed, ask,
		}, ""},
		{"remove", orphan, 1, slice.Remove, []string{ask, calling("a"), result("a")}, ""},
		{"remove all", orphan, 2, slice.Remove, []string{
			ask, calling("a"), result("a"), ask, `{"role": "assistant", "content": ""}`,
		}, ""},
		{"remove a block", []string{ask, using("x")}, 1, slice.Remove, []string{ask, `{"role": "assistant", "content": []}`}, ""},
		{
			"refuse", orphan, 3, slice.Refuse, nil,
			"Orphaned tool calls at fork boundary: ['b', 'c']. These tool_use blocks have no matching tool_result.",
		},
		{"unknown", orphan, 1, 7, nil, "Unknown handle_orphaned_tools value: '7'. Expected 'complete', 'remove', or 'error'."},
		{"answered by a block", []string{ask, using("x"), answering("x", "")}, 1, slice.Refuse, []string{ask, using("x"), answering("x", "")}, ""},
		{"zero", orphan, 0, slice.Complete, nil, "Turn must be >= 1, got 0"},
		{"too many", orphan, 4, slice.Complete, nil, "Turn 4 exceeds max turns (3). Valid range: 1-3"},
		{"no user", []string{say}, 1, slice.Complete, nil, "No user messages found in conversation"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			msgs := parse(t, tt.lines...)
			got, err := slice.ToTurn(msgs, tt.turn, tt.mode)
			require.Equal(t, tt.lines, lines(msgs), "the input was changed")
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, lines(got))
		})
	}
}

// TestSurrogateID answers a call whose id is no Unicode text.
func TestSurrogateID(t *testing.T) {
	t.Parallel()
	msgs := parse(t, ask, "{\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"a\"}, {\"id\": \"é\\ud800\"}]}", result("a"))
	require.Equal(t, []string{"é\xed\xa0\x80"}, slice.OrphanedToolCalls(msgs))
	got, err := slice.ToTurn(msgs, 1, slice.Complete)
	require.NoError(t, err)
	require.Empty(t, slice.OrphanedToolCalls(got))
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	const both = `{"role": "assistant", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "漢字漢"}, {"type": "tool_use", "id": "a"}, {"type": "tool_use", "id": "b"}], "tool_calls": [{"id": "a"}]}`
	msgs := parse(t, ask, say, `{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "hello"}]}`, both, result("a"))
	got, err := slice.Summarize(msgs, 2, 2)
	require.NoError(t, err)
	require.Equal(t, slice.TurnSummary{Turn: 2, User: "he...", Assistant: "漢字...", Tools: 2, Messages: 3}, got)
	got, err = slice.Summarize(msgs, 1, 1)
	require.NoError(t, err)
	require.Equal(t, slice.TurnSummary{Turn: 1, User: "q", Assistant: "a", Messages: 2}, got)
	_, err = slice.Summarize(msgs, 3, 1)
	require.EqualError(t, err, "Turn 3 out of range (1-2)")
}

func TestWindow(t *testing.T) {
	t.Parallel()
	late := []string{say, ask, calling("a"), ask, result("a"), ask, say}
	for _, tt := range []struct {
		name  string
		lines []string
		turns int
		from  int
	}{
		{"none", late, 0, 7},
		{"negative", late, -1, 7},
		{"one", late, 1, 5},
		{"not parted", late, 2, 1},
		{"all", late, 3, 0},
		{"more", late, 9, 0},
		{"blocks", []string{ask, ask, using("x"), answering("x", moreText), say}, 1, 1},
		{"parted before the first turn", []string{calling("a"), ask, result("a")}, 1, 0},
		{"no turns", []string{say}, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, append([]string{}, tt.lines[tt.from:]...), lines(slice.Window(parse(t, tt.lines...), tt.turns)))
		})
	}
}
