package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUsage looks at what sessions used, as a table and as a plot.
func TestUsage(t *testing.T) {
	s := newSample(t)
	s.create(finished, map[string]any{"name": "costly"})
	var log strings.Builder
	for i := range 30 {
		fmt.Fprintf(&log, `{"ts": "2026-03-%02dT12:00:00+00:00", "event": "llm:response", "session_id": %q, "data": {"response_id": "r%d", "provider": "anthropic", "model": %q, "usage": {"input_tokens": %d, "output_tokens": %d, "cost_usd": "0.125"}}}`+"\n", 1+i, finished, i, []string{"claude-opus-4", "claude-haiku-4", attack}[i%3], 90000+i*i*1000, 20000+i*3000)
	}
	s.write(finished, "events.jsonl", log.String())
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length === 1")
	p.click(".sidebar a[href$='/usage']")
	p.until("document.querySelectorAll('.plot .input').length === 30")
	require.Equal(t, 3, eval[int](p, "document.querySelector('.usage tbody').rows.length"))
	require.Contains(t, p.text(".usage tbody"), attack)
	require.Equal(t, 0, eval[int](p, "document.querySelectorAll('img, script:not([src])').length"))
	require.Equal(t, 0, eval[int](p, "window.broken ?? 0"))
	require.Equal(t, "rgb(59, 91, 219)", eval[string](p, "getComputedStyle(document.querySelector('.plot .input')).fill"))
	require.True(t, eval[bool](p, "[...document.querySelectorAll('.plot rect')].every((r) => { const b = r.getBBox(); return b.y >= -0.01 && b.y + b.height <= 160.01 && b.x + b.width <= 720; })"))
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		for _, width := range []int64{1440, 390} {
			p.size(width, 860)
			p.shot(fmt.Sprint("usage-", scheme, "-", width))
			require.True(t, eval[bool](p, "document.documentElement.scrollWidth <= innerWidth"), "%d", width)
		}
	}
}
