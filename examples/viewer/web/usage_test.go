package web

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
)

func response(session, model, day string, input, output int) string {
	return fmt.Sprintf(`{"ts": "%sT12:00:00+00:00", "event": "llm:response", "session_id": %q, "data": {"response_id": "%s-%d", "provider": "p", "model": %q, "usage": {"input_tokens": %d, "output_tokens": %d, "cost_usd": "0.25"}}}`+"\n", day, session, day, input, model, input, output)
}

func TestUsagePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	require.Contains(t, s.get(200, "/p/weather/usage"), "No log tells what was used.")
	s.create(one, nil, user("a"))
	s.create(two, nil, user("b"))
	s.write(one, "events.jsonl", response(one, "small", "2026-03-01", 1000, 50)+response(one, "large<b>", "2026-03-03", 2000000, 400000))
	s.write(two, filepath.Join(newerDir, "events.jsonl"), response(two, "small", "2026-03-03", 70, 5))
	for _, path := range []string{"/p/weather/usage", "/usage"} {
		body := s.get(200, path)
		require.Contains(t, body, "<th scope=\"row\">large&lt;b&gt;</th><td>1</td><td>2\u202f000\u202f000</td><td>0</td><td>400\u202f000</td><td>0</td><td>0.25</td>")
		require.Contains(t, body, "<th scope=\"row\">small</th><td>2</td><td>1\u202f070</td><td>0</td><td>55</td><td>0</td><td>0.5")
		require.Contains(t, body, "<th scope=\"row\">2026-03-03</th><td>2</td><td>2\u202f000\u202f070</td>")
		require.Equal(t, 2, strings.Count(body, `<rect class="input"`))
		require.Less(t, strings.Index(body, "large&lt;b"), strings.Index(body, ">small"), "the model that used most comes first")
	}
	require.Contains(t, s.get(200, "/usage"), "<span>2026-02-18</span><span>2026-03-03</span>")
	s.write(two, filepath.Join(newerDir, "events.jsonl"), "")
	s.write(one, "events.jsonl", response(one, "small", "2026-03-01", 1000, 50))
	require.Contains(t, s.get(200, "/usage"), `<p class="span"><span>2026-02-16</span><span>2026-03-01</span></p>`, "a single day is the last of a fortnight")
	s.get(404, "/p/none/usage")
}

func TestPlot(t *testing.T) {
	t.Parallel()
	row := func(day string, input, output int64) usageRow {
		return usageRow{Key: day, Usage: eventslog.Usage{Input: input, Output: output}}
	}
	require.Empty(t, plotOf(nil).Bars)
	require.Empty(t, plotOf([]usageRow{row("unknown", 5, 5)}).Bars)
	require.Empty(t, plotOf([]usageRow{row("2026-03-01", 0, 0)}).Bars)
	p := plotOf([]usageRow{row("2026-02-28", 300, 100), row("2026-03-02", 150, 50), row("unknown", 9999, 0)})
	require.Equal(t, []string{"2026-02-17", "2026-03-02"}, []string{p.From, p.To})
	require.Equal(t, int64(400), p.Most)
	require.Len(t, p.Bars, 2)
	step := float64(plotWidth) / fewestDays
	require.InDelta(t, 11.1*step, p.Bars[0].X, 0.001, "the days before have their place")
	require.InDelta(t, 0.8*step, p.Bars[0].Width, 0.001)
	p.Bars[0].X, p.Bars[0].Width = 0, 0
	require.Equal(t, bar{Y: 40, Height: 120, OutputY: 0, OutputHeight: 40, Day: "2026-02-28", Input: "300", OutputText: "100"}, p.Bars[0])
	require.InDelta(t, 13.1*step, p.Bars[1].X, 0.001, "the day between has its place")
	require.InDelta(t, 80, p.Bars[1].Height+p.Bars[1].OutputHeight, 0.001)

	var days []usageRow
	for i := range 500 {
		days = append(days, row(time.Date(2025, 1, 1+i, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), 1, 1))
	}
	p = plotOf(days)
	require.Len(t, p.Bars, plotDays)
	last := p.Bars[plotDays-1]
	require.LessOrEqual(t, last.X+last.Width, float64(plotWidth))
	require.Equal(t, days[499].Key, last.Day)
}

func TestCountText(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", -1234: "-1\u202f234", -123: "-123", 1234567: "1\u202f234\u202f567"} {
		require.Equal(t, want, countText(n))
	}
}
