package conversation

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// manyResults returns a message with n calls, and one with all of their results.
func manyResults(tb testing.TB, n int) *View {
	tb.Helper()
	var calls, results []string
	for i := range n {
		calls = append(calls, fmt.Sprintf(`{"id": "c%d", "tool": "t", "arguments": {}}`, i))
		results = append(results, fmt.Sprintf(`{"type": "tool_result", "tool_use_id": "c%d", "content": "result %d"}`, i, i))
	}
	var rows []sessionstore.Message
	for _, line := range []string{
		`{"role": "user", "content": "go"}`,
		`{"role": "assistant", "content": "", "tool_calls": [` + strings.Join(calls, ",") + `]}`,
		`{"role": "user", "content": [` + strings.Join(results, ",") + `]}`,
	} {
		m, err := sessionstore.ParseMessage([]byte(line))
		require.NoError(tb, err)
		rows = append(rows, m)
	}
	v, err := New(rows)
	require.NoError(tb, err)
	return v
}

// TestManyResults reads a message with many results: one with four times as many costs about
// four times the memory.
func TestManyResults(t *testing.T) { //nolint:paralleltest // it counts what is allocated
	cost := func(n int) uint64 {
		v := manyResults(t, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		all := v.Messages(0, v.Len(), Limits{})
		runtime.ReadMemStats(&after)
		require.Len(t, all[1].Calls, n)
		for i, c := range all[1].Calls {
			require.Equal(t, fmt.Sprintf("result %d", i), c.Result.Text.Text)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, cost(2000), 6*cost(500))
}

func BenchmarkManyResults(b *testing.B) {
	v := manyResults(b, 4000)
	for b.Loop() {
		v.Messages(0, 3, Limits{})
	}
}
