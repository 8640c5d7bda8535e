package browsertest

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

const report = "# Zürich\n\nIt is **2.4 °C** warmer, see [the series](https://example.org/zurich).\n\n" +
	"1. read `data/zurich.csv`\n2. compare means\n   - of thirty years\n\n> Both ends are there.\n\n" +
	"| years | mean |\n|---|---|\n| 1871–1900 | 8.1 |\n| 1994–2023 | 10.5 |\n\n" +
	"```go\nfunc mean(v []float64) float64 { return sum(v) / float64(len(v)) }\n```\n\n![plot](https://example.org/plot.png)\n\n" + attack

// TestMarkdown looks at rendered answers, at their source and at long ones.
func TestMarkdown(t *testing.T) {
	s := newSample(t)
	s.create(finished, map[string]any{"name": "report"})
	s.add(finished, s.said("user", "**Report**, please."), s.said("assistant", report), s.said("user", "More."), s.said("assistant", "## More\n\n"+strings.Repeat("- a *line* of it\n", 1000)))
	p := browse(t)
	at := serve(t, s.dir)
	const first = ".message[data-n='1'] "
	p.open(at+address(finished)+"#transcript", "document.querySelectorAll('.message').length === 4")
	p.do(focusOn("#messages"))
	p.press(kb.Home)
	require.Equal(t, "Zürich", p.text(first+".markdown h1"))
	require.Equal(t, "2.4 °C", p.text(first+".markdown strong"))
	require.Equal(t, 3, eval[int](p, "document.querySelectorAll(`"+first+"tr`).length"))
	require.Contains(t, p.text(first+"code.language-go"), "func mean")
	require.Equal(t, "noopener", eval[string](p, "document.querySelector(`"+first+"a[href='https://example.org/zurich']`).rel.split(' ').pop()"))
	require.Contains(t, p.text(first+".markdown"), attack)
	require.Equal(t, "**Report**, please.", p.text(".message.user pre"))
	inert := func() {
		t.Helper()
		require.Equal(t, 0, eval[int](p, "window.broken ?? 0"))
		require.Equal(t, 0, eval[int](p, "document.querySelectorAll('img, script:not([src])').length"))
	}
	inert()
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		for name, width := range map[string]int64{"wide": 1440, "phone": 390} {
			p.size(width, 860)
			p.do(evaluate("document.querySelector('#messages').scrollTop = 0"))
			p.shot("markdown-" + scheme + "-" + name)
			require.True(t, eval[bool](p, "document.documentElement.scrollWidth <= innerWidth && document.querySelector('#messages').scrollWidth <= innerWidth"), name)
		}
	}
	p.size(1280, 860)
	p.click("#raw")
	p.until("!document.querySelector('.markdown')")
	require.Equal(t, report, p.text(first+"pre.body"))
	require.Equal(t, "true", eval[string](p, "document.querySelector('#raw').getAttribute('aria-pressed')"))
	p.open(at+address(finished)+"#transcript", "document.querySelectorAll('.message').length === 4")
	require.Equal(t, report, p.text(first+"pre.body"), "the choice is kept")
	p.click("#raw")
	p.until("document.querySelector(`" + first + ".markdown h1`)")
	p.do(focusOn(".message[data-n='3']"))
	p.press(kb.Enter)
	p.until("document.querySelectorAll(`.message[data-n='3'] li`).length === 1000")
	require.Equal(t, "3", eval[string](p, "document.activeElement.dataset.n"))
	inert()
}
