package slice_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

const repairedAnswer = `{"role": "assistant", "content": [{"type": "text", "text": "The previous tool calls were interrupted. This response was automatically repaired."}]}`

func repaired(id, name string) string {
	return `{"role": "tool", "tool_call_id": "` + id + `", "name": "` + name + `", "content": ` +
		`"{\"error\": \"unknown_error\", \"message\": \"Tool execution was interrupted and no result was captured.\"}"}`
}

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		lines     []string
		diagnosis string // its lists
		want      []string
		rewound   int
	}{
		{"healthy", []string{ask, calling("a"), result("a"), say}, `[] [] []`, nil, 4},
		{"orphan", []string{ask, say, ask, calling("a")}, `["a"] [] []`, []string{ask, say, ask, calling("a"), repaired("a", "f"), repairedAnswer}, 2},
		{
			"misplaced",
			[]string{ask, calling("a"), ask, result("a"), say},
			`[] ["a"] []`,
			[]string{ask, calling("a"), repaired("a", "f"), repairedAnswer, ask, say},
			0,
		},
		{
			"incomplete",
			[]string{ask, calling("a"), result("a"), ask},
			`[] [] [{"after_line":3,"after_index":2,"missing":"assistant_response"}]`,
			[]string{ask, calling("a"), result("a"), repairedAnswer, ask},
			0,
		},
		{
			"incomplete only after the first pass",
			[]string{ask, calling("a", "b"), result("a"), ask, result("b"), say},
			`[] ["b"] []`,
			[]string{ask, calling("a", "b"), repaired("b", "f"), result("a"), repairedAnswer, ask, say},
			0,
		},
		{"block", []string{ask, using("x"), ask}, `["x"] [] []`, []string{ask, using("x"), repaired("x", "g"), repairedAnswer, ask}, 0},
		{"answered block", []string{ask, using("x"), answering("x", moreText)}, `[] [] []`, nil, 3},
		{
			"misplaced block",
			[]string{ask, using("x"), ask, answering("x", moreText), say},
			`[] ["x"] []`,
			[]string{ask, using("x"), repaired("x", "g"), repairedAnswer, ask, `{"role": "user", "content": [{"type": "text", "text": "and"}]}`, say},
			0,
		},
		{
			"no id",
			[]string{ask, `{"role": "assistant", "tool_calls": [{"tool": "x"}]}`, say},
			`[""] [] []`,
			[]string{ask, `{"role": "assistant", "tool_calls": [{"tool": "x", "id": "repaired_1"}]}`, repaired("repaired_1", "x"), say},
			0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			msgs := parse(t, tt.lines...)
			d := diagnosed(t, msgs)
			require.Equal(t, tt.diagnosis, show(t, d.Orphaned)+" "+show(t, d.Misplaced)+" "+show(t, d.Incomplete))
			got, err := slice.Repair(msgs, d)
			require.NoError(t, err)
			if tt.want == nil {
				require.True(t, d.Healthy())
				tt.want = tt.lines
			}
			require.Equal(t, tt.want, lines(got))
			got, err = slice.Rewind(msgs, d)
			require.NoError(t, err)
			require.Equal(t, append([]string{}, tt.lines[:tt.rewound]...), lines(got))
		})
	}
}

func show(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func TestDiagnosisJSON(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"status":"healthy","failure_modes":[],"orphaned_tool_ids":[],"misplaced_tool_ids":[],"incomplete_turns":[],"recommended_action":"none"}`,
		show(t, diagnosed(t, nil)))
	d := diagnosed(t, parse(t, ask, calling("a")))
	var read slice.Diagnosis
	require.NoError(t, json.Unmarshal([]byte(show(t, d)), &read))
	_, err := slice.Repair(parse(t, ask, calling("a")), read)
	require.NoError(t, err)
}

func TestOtherMessages(t *testing.T) {
	t.Parallel()
	msgs := parse(t, ask, calling("a"))
	for _, d := range []slice.Diagnosis{{}, diagnosed(t, msgs[:1])} {
		_, err := slice.Repair(msgs, d)
		require.EqualError(t, err, "change messages: the diagnosis is of other messages")
		_, err = slice.Rewind(msgs, d)
		require.EqualError(t, err, "change messages: the diagnosis is of other messages")
	}
	_, err := slice.Diagnose([]sessionstore.Message{msgs[0], {}})
	require.ErrorIs(t, err, sessionstore.ErrUnstorable)
}
