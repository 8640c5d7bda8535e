package eventslog

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/store/decimal"
)

// used is the usage of one model on one day.
type used struct {
	Day string
	Usage
}

// usageIn returns what a log tells, by day, provider and model.
func usageIn(t *testing.T, l *Log, counted *Counted) (all []used) {
	t.Helper()
	sums := map[[3]string]*used{}
	for u, err := range l.Usage(t.Context(), counted) {
		require.NoError(t, err)
		day := ""
		if !u.At.IsZero() {
			day = u.At.Format(time.DateOnly)
		}
		key := [3]string{day, u.Provider, u.Model}
		if sums[key] == nil {
			sums[key] = &used{Day: day}
		}
		require.NoError(t, sums[key].Add(u))
	}
	for _, key := range slices.SortedFunc(maps.Keys(sums), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		sums[key].At = time.Time{}
		all = append(all, *sums[key])
	}
	return all
}

// TestUsage reads logs of all forms.
func TestUsage(t *testing.T) {
	t.Parallel()
	const newer = `{"ts": "2026-11-22T23:30:00.5+00:00", "event": "llm:response", "status": "ok", "duration_ms": 1500, "session_id": "sess", "data": {"provider": "anthropic", "model": "m", ` +
		`"usage": {"input_tokens": 1000, "output_tokens": 50, "cache_read_tokens": 800, "cache_write_tokens": 30, "reasoning_tokens": 20, "cost_usd": "0.10"}`
	one := used{"2026-11-22", Usage{
		Provider: "anthropic", Model: "m", Responses: 1, Priced: 1,
		Input: 1000, CacheRead: 800, CacheWrite: 30, Output: 50, Reasoning: 20, Cost: "0.10", Time: 1500 * time.Millisecond,
	}}
	with := func(change func(*used)) used { u := one; change(&u); return u }
	tests := map[string]struct {
		rows []string
		want []used
	}{
		"nothing":                 {nil, nil},
		"a response":              {[]string{newer + "}}"}, []used{one}},
		"told twice":              {[]string{newer + "}}", newer + "}}"}, []used{one}},
		"told twice, another ts":  {[]string{newer + "}}", strings.Replace(newer, ":00.5+", ":00.6+", 1) + "}}"}, []used{with(func(u *used) { double(u) })}},
		"with an id":              {[]string{newer + `, "response_id": "r"}}`, newer + `, "response_id": "r"}}`}, []used{with(func(u *used) { u.Exact = true })}},
		"with ids, at one time":   {[]string{newer + `, "raw": {"id": "r"}}}`, newer + `, "raw": {"id": "q"}}}`}, []used{with(func(u *used) { double(u); u.Exact = true })}},
		"with one id":             {[]string{newer + `, "raw": {"id": "r"}}}`, strings.Replace(newer, `"ts": "2026-11-22T23:30:00.5+00:00", `, "", 1) + "}}"}, []used{with(func(u *used) { u.Day = "" }), with(func(u *used) { u.Exact = true })}},
		"without times":           {[]string{`{"event": "llm:response"}`, `{"event": "llm:response"}`}, []used{{"", Usage{Responses: 2, Cost: "0"}}}},
		"of another session":      {[]string{strings.Replace(newer, `"sess"`, `"other"`, 1) + "}}"}, nil},
		"of no session":           {[]string{strings.Replace(newer, `"sess"`, `null`, 1) + "}}"}, []used{one}},
		"damaged":                 {[]string{newer, "{", `["llm:response"]`, newer + "}} x"}, nil},
		"failed":                  {[]string{`{"ts": "2026-11-22T01:00:00Z", "event": "llm:response", "data": {"status": "error", "duration_ms": 12.5, "model": "m"}}`}, []used{{"2026-11-22", Usage{Model: "m", Responses: 1, Failed: 1, Cost: "0", Time: 12500 * time.Microsecond}}}},
		"older names":             {[]string{`{"event": "llm:response", "data": {"usage": {"input": 10, "output": 5, "cache_read": 90, "cache_write": 3, "cost_usd": 0.5}}}`}, []used{{"", Usage{Responses: 1, Priced: 1, Input: 100, Output: 5, CacheRead: 90, CacheWrite: 3, Cost: "0.5"}}}},
		"Anthropic's names":       {[]string{`{"event": "llm:response", "data": {"usage": {"input_tokens": 100, "output_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3, "cost_usd": null}}}`}, []used{{"", Usage{Responses: 1, Input: 190, Output: 5, CacheRead: 90, CacheWrite: 3, Cost: "0"}}}},
		"no numbers":              {[]string{`{"event": "llm:response", "duration_ms": 1e300, "data": {"usage": {"input_tokens": -1, "output_tokens": "5", "cache_read_tokens": 1e3, "cache_write_tokens": 99999999999999999999, "cost_usd": "much"}}}`, `{"event": "llm:response", "duration_ms": "long", "data": {"usage": [1]}}`}, []used{{"", Usage{Responses: 2, Cost: "0"}}}},
		"escaped name":            {[]string{`{"event": "llm\u003aresponse"}`}, []used{{"", Usage{Responses: 1, Cost: "0"}}}},
		"timestamp before ts":     {[]string{"\ufeff" + `{"event": "llm:response", "timestamp": "2026-01-02T00:00:00Z", "ts": "2026-01-03T00:00:00Z"}`}, []used{{"2026-01-02", Usage{Responses: 1, Cost: "0"}}}},
		"tools":                   {[]string{tool("post", 1, "a"), newer + "}}", tool("post", 1, "a"), tool("post", 2, "a"), tool("error", 3, "b"), tool("pre", 4, "c"), `{"event": "tool:post"}`}, []used{{"", Usage{Tools: 1, Exact: true, Provider: "anthropic", Model: "m", Cost: "0"}}, {"2026-11-22", Usage{Tools: 1, Exact: true, Cost: "0"}}, with(func(u *used) { u.Tools = 2 })}},
		"two models on two days":  {[]string{newer + "}}", strings.NewReplacer(`"m"`, `"n"`, "T23:", "T22:").Replace(newer) + "}}", strings.Replace(newer, "-22T", "-21T", 1) + "}}"}, []used{with(func(u *used) { u.Day = "2026-11-21" }), one, with(func(u *used) { u.Model = "n" })}},
		"a context that is small": {[]string{strings.Replace(newer, "1000", "0", 1) + "}}"}, []used{with(func(u *used) { u.Input = 800 })}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := openIn(t, strings.Join(tt.rows, "\n"), nil)
			require.Equal(t, tt.want, usageIn(t, l, nil))
		})
	}
}

// double makes of the usage of one response that of two.
func double(u *used) {
	u.Responses, u.Priced, u.Time, u.Cost = 2, 2, 2*u.Time, "0.20"
	u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning = 2*u.Input, 2*u.CacheRead, 2*u.CacheWrite, 2*u.Output, 2*u.Reasoning
}

func tool(what string, second int, call string) string {
	return `{"event": "tool:` + what + `", "ts": "2026-11-22T00:00:0` + string(rune('0'+second)) + `Z", "data": {"tool_name": "bash", "tool_call_id": "` + call + `"}}`
}

// TestUsageTimes tells of one time in several places.
func TestUsageTimes(t *testing.T) {
	t.Parallel()
	const rows = `{"event": "llm:response", "ts": "2026-11-22T23:30:00-01:00"}`
	l := openIn(t, rows, nil)
	for hours, want := range map[int]string{0: "2026-11-23", -2: "2026-11-22", 13: "2026-11-23", -12: "2026-11-22"} {
		for u, err := range l.Usage(t.Context(), nil) {
			require.NoError(t, err)
			require.Equal(t, want, u.At.In(time.FixedZone("", hours*3600)).Format(time.DateOnly), hours)
		}
	}
}

// TestUsageCountedOverLogs reads a log and a copy of it.
func TestUsageCountedOverLogs(t *testing.T) {
	t.Parallel()
	const rows = `{"event": "llm:response", "ts": "2026-11-22T23:30:00Z", "session_id": "sess"}` + "\n" + `{"event": "tool:post", "ts": "2026-11-22T23:30:00Z"}` + "\n"
	var counted Counted
	require.Len(t, usageIn(t, openIn(t, rows, nil), &counted), 1)
	require.Empty(t, usageIn(t, openIn(t, strings.ReplaceAll(rows, "sess", "fork"), &Options{SessionID: "fork"}), &counted))
	l, err := Open(filepath.Join(t.TempDir(), "nowhere"), nil)
	require.NoError(t, err)
	require.Empty(t, usageIn(t, l, &counted))
	require.NoError(t, l.Close())
}

func TestUsageAdd(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	a := Usage{Provider: "p", Model: "m", At: noon, Responses: 1, Priced: 1, Exact: true, Input: 5, Cost: "0.1", Time: time.Second}
	b := Usage{Provider: "p", Model: "n", At: noon, Responses: 2, Failed: 1, Exact: true, Output: 7, Cost: "0.20", Tools: 3}
	var sum Usage
	require.NoError(t, sum.Add(a))
	require.Equal(t, a, sum)
	require.NoError(t, sum.Add(b))
	want := Usage{Provider: "p", At: noon, Responses: 3, Failed: 1, Priced: 1, Exact: true, Input: 5, Output: 7, Cost: "0.30", Time: time.Second, Tools: 3}
	require.Equal(t, want, sum)
	require.ErrorContains(t, sum.Add(Usage{Cost: "much"}), "no decimal number")
	require.Equal(t, want, sum)
	sum = Usage{Cost: "9e999999"}
	require.True(t, errors.Is(sum.Add(sum), decimal.ErrOverflow))
	var failed error
	l := openIn(t, strings.Repeat(`{"event": "llm:response", "data": {"usage": {"cost_usd": "9e999999"}}}`+"\n", 2), nil)
	sum = Usage{}
	for u, err := range l.Usage(t.Context(), nil) {
		require.NoError(t, err)
		failed = errors.Join(failed, sum.Add(u))
	}
	require.ErrorIs(t, failed, decimal.ErrOverflow)
}
