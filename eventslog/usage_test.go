package eventslog

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func usageIn(t *testing.T, l *Log, o *UsageOptions) (all []Usage) {
	t.Helper()
	for u, err := range l.Usage(t.Context(), o) {
		require.NoError(t, err)
		all = append(all, u)
	}
	return all
}

// TestUsage reads logs of all forms.
func TestUsage(t *testing.T) {
	t.Parallel()
	const newer = `{"ts": "2026-11-22T23:30:00.5+00:00", "event": "llm:response", "status": "ok", "duration_ms": 1500, "session_id": "sess", "data": {"provider": "anthropic", "model": "m", ` +
		`"usage": {"input_tokens": 1000, "output_tokens": 50, "cache_read_tokens": 800, "cache_write_tokens": 30, "reasoning_tokens": 20, "cost_usd": "0.10"}`
	one := Usage{
		Provider: "anthropic", Model: "m", Day: "2026-11-22", Responses: 1, Priced: 1,
		Input: 1000, CacheRead: 800, CacheWrite: 30, Output: 50, Reasoning: 20, Cost: "0.10", Time: 1500 * time.Millisecond,
	}
	with := func(change func(*Usage)) Usage { u := one; change(&u); return u }
	tests := map[string]struct {
		rows []string
		want []Usage
	}{
		"nothing":                 {nil, nil},
		"a response":              {[]string{newer + "}}"}, []Usage{one}},
		"told twice":              {[]string{newer + "}}", newer + "}}"}, []Usage{one}},
		"told twice, another ts":  {[]string{newer + "}}", strings.Replace(newer, ":00.5+", ":00.6+", 1) + "}}"}, []Usage{with(func(u *Usage) { double(u) })}},
		"with an id":              {[]string{newer + `, "response_id": "r"}}`, newer + `, "response_id": "r"}}`}, []Usage{with(func(u *Usage) { u.Exact = true })}},
		"with ids, at one time":   {[]string{newer + `, "raw": {"id": "r"}}}`, newer + `, "raw": {"id": "q"}}}`}, []Usage{with(func(u *Usage) { double(u); u.Exact = true })}},
		"with one id":             {[]string{newer + `, "raw": {"id": "r"}}}`, strings.Replace(newer, `"ts": "2026-11-22T23:30:00.5+00:00", `, "", 1) + "}}"}, []Usage{with(func(u *Usage) { u.Day = "" }), with(func(u *Usage) { u.Exact = true })}},
		"without times":           {[]string{`{"event": "llm:response"}`, `{"event": "llm:response"}`}, []Usage{{Responses: 2, Cost: "0"}}},
		"of another session":      {[]string{strings.Replace(newer, `"sess"`, `"other"`, 1) + "}}"}, nil},
		"of no session":           {[]string{strings.Replace(newer, `"sess"`, `null`, 1) + "}}"}, []Usage{one}},
		"damaged":                 {[]string{newer, "{", `["llm:response"]`, newer + "}} x"}, nil},
		"failed":                  {[]string{`{"ts": "2026-11-22T01:00:00Z", "event": "llm:response", "data": {"status": "error", "duration_ms": 12.5, "model": "m"}}`}, []Usage{{Model: "m", Day: "2026-11-22", Responses: 1, Failed: 1, Cost: "0", Time: 12500 * time.Microsecond}}},
		"older names":             {[]string{`{"event": "llm:response", "data": {"usage": {"input": 10, "output": 5, "cache_read": 90, "cache_write": 3, "cost_usd": 0.5}}}`}, []Usage{{Responses: 1, Priced: 1, Input: 100, Output: 5, CacheRead: 90, CacheWrite: 3, Cost: "0.5"}}},
		"Anthropic's names":       {[]string{`{"event": "llm:response", "data": {"usage": {"input_tokens": 100, "output_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3, "cost_usd": null}}}`}, []Usage{{Responses: 1, Input: 190, Output: 5, CacheRead: 90, CacheWrite: 3, Cost: "0"}}},
		"no numbers":              {[]string{`{"event": "llm:response", "duration_ms": 1e300, "data": {"usage": {"input_tokens": -1, "output_tokens": "5", "cache_read_tokens": 1e3, "cache_write_tokens": 99999999999999999999, "cost_usd": "much"}}}`, `{"event": "llm:response", "duration_ms": "long", "data": {"usage": [1]}}`}, []Usage{{Responses: 2, Cost: "0"}}},
		"escaped name":            {[]string{`{"event": "llm\u003aresponse"}`}, []Usage{{Responses: 1, Cost: "0"}}},
		"timestamp before ts":     {[]string{"\ufeff" + `{"event": "llm:response", "timestamp": "2026-01-02T00:00:00Z", "ts": "2026-01-03T00:00:00Z"}`}, []Usage{{Day: "2026-01-02", Responses: 1, Cost: "0"}}},
		"tools":                   {[]string{tool("post", 1, "a"), newer + "}}", tool("post", 1, "a"), tool("post", 2, "a"), tool("error", 3, "b"), tool("pre", 4, "c"), `{"event": "tool:post"}`}, []Usage{{Tools: 1, Exact: true, Provider: "anthropic", Model: "m", Cost: "0"}, {Tools: 1, Exact: true, Day: "2026-11-22", Cost: "0"}, with(func(u *Usage) { u.Tools = 2 })}},
		"two models on two days":  {[]string{newer + "}}", strings.NewReplacer(`"m"`, `"n"`, "T23:", "T22:").Replace(newer) + "}}", strings.Replace(newer, "-22T", "-21T", 1) + "}}"}, []Usage{with(func(u *Usage) { u.Day = "2026-11-21" }), one, with(func(u *Usage) { u.Model = "n" })}},
		"a context that is small": {[]string{strings.Replace(newer, "1000", "0", 1) + "}}"}, []Usage{with(func(u *Usage) { u.Input = 800 })}},
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
func double(u *Usage) {
	u.Responses, u.Priced, u.Time, u.Cost = 2, 2, 2*u.Time, "0.20"
	u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning = 2*u.Input, 2*u.CacheRead, 2*u.CacheWrite, 2*u.Output, 2*u.Reasoning
}

func tool(what string, second int, call string) string {
	return `{"event": "tool:` + what + `", "ts": "2026-11-22T00:00:0` + string(rune('0'+second)) + `Z", "data": {"tool_name": "bash", "tool_call_id": "` + call + `"}}`
}

// TestUsageDays tells of one time in several places.
func TestUsageDays(t *testing.T) {
	t.Parallel()
	const rows = `{"event": "llm:response", "ts": "2026-11-22T23:30:00-01:00"}`
	l := openIn(t, rows, nil)
	for hours, want := range map[int]string{0: "2026-11-23", -2: "2026-11-22", 13: "2026-11-23", -12: "2026-11-22"} {
		all := usageIn(t, l, &UsageOptions{Days: time.FixedZone("", hours*3600)})
		require.Equal(t, want, all[0].Day, hours)
	}
}

// TestUsageCountedOverLogs reads a log and a copy of it.
func TestUsageCountedOverLogs(t *testing.T) {
	t.Parallel()
	const rows = `{"event": "llm:response", "ts": "2026-11-22T23:30:00Z", "session_id": "sess"}` + "\n" + `{"event": "tool:post", "ts": "2026-11-22T23:30:00Z"}` + "\n"
	var counted Counted
	o := &UsageOptions{Counted: &counted}
	require.Len(t, usageIn(t, openIn(t, rows, nil), o), 1)
	require.Empty(t, usageIn(t, openIn(t, strings.ReplaceAll(rows, "sess", "fork"), &Options{SessionID: "fork"}), o))
	l, err := Open(filepath.Join(t.TempDir(), "nowhere"), nil)
	require.NoError(t, err)
	require.Empty(t, usageIn(t, l, o))
	require.NoError(t, l.Close())
}

func TestUsageAdd(t *testing.T) {
	t.Parallel()
	a := Usage{Provider: "p", Model: "m", Day: "2026-11-22", Responses: 1, Priced: 1, Exact: true, Input: 5, Cost: "0.1", Time: time.Second}
	b := Usage{Provider: "p", Model: "n", Day: "2026-11-22", Responses: 2, Failed: 1, Exact: true, Output: 7, Cost: "0.20", Tools: 3}
	var sum Usage
	require.NoError(t, sum.Add(a))
	require.Equal(t, a, sum)
	require.NoError(t, sum.Add(b))
	want := Usage{Provider: "p", Day: "2026-11-22", Responses: 3, Failed: 1, Priced: 1, Exact: true, Input: 5, Output: 7, Cost: "0.30", Time: time.Second, Tools: 3}
	require.Equal(t, want, sum)
	require.ErrorContains(t, sum.Add(Usage{Cost: "much"}), "no decimal number")
	require.Equal(t, want, sum)
	sum = Usage{Cost: "9e999999"}
	require.True(t, errors.Is(sum.Add(sum), ErrOverflow))
	l := openIn(t, strings.Repeat(`{"event": "llm:response", "data": {"usage": {"cost_usd": "9e999999"}}}`+"\n", 2), nil)
	for _, err := range l.Usage(t.Context(), nil) {
		require.ErrorIs(t, err, ErrOverflow)
	}
}
