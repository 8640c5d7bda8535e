package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestKeyboard does everything without a mouse.
func TestKeyboard(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 3")
	p.press("j")
	require.Equal(t, damaged, eval[string](p, focused+".parentElement.dataset.id"))
	p.press("j", "j", "k")
	require.Equal(t, recovered, eval[string](p, focused+".parentElement.dataset.id"))
	p.press(kb.ArrowDown, "j", "j", "j", "j", "j") // and no further than the last
	require.Equal(t, research, eval[string](p, focused+".parentElement.dataset.id"))
	require.NotEqual(t, "none", eval[string](p, "getComputedStyle("+focused+").outlineStyle"))
	p.press(kb.Enter)
	p.until(cards + " === 4")

	for eval[string](p, focused+".className") != "close-button" {
		p.press(kb.Tab)
	}
	p.until("document.querySelectorAll('#lineage a').length === 2")
	p.press(kb.Tab, kb.Tab, kb.Tab)
	require.Equal(t, "tab-phases", eval[string](p, focused+".id"))
	p.press(kb.Tab)
	require.Equal(t, "Plan the research", eval[string](p, focused+".querySelector('.phase-name').textContent"))
	p.press(kb.Enter)
	p.until("document.querySelectorAll('.prompt-content').length === 1")
	require.Equal(t, "true", eval[string](p, focused+".ariaExpanded"))
	p.press("j", " ")
	p.until("document.querySelectorAll('.prompt-content').length === 2")
	require.Equal(t, "Gather data", eval[string](p, focused+".querySelector('.phase-name').textContent"))
	p.press(" ")
	p.until("document.querySelectorAll('.prompt-content').length === 1")

	p.do(focusOn("#tab-phases"))
	p.press(kb.ArrowRight)
	require.Equal(t, "tab-transcript", eval[string](p, focused+".id"))
	p.until("document.querySelectorAll('.message').length > 5")
	p.do(focusOn("#messages"))
	p.press(kb.Home)
	p.until(focused + ".dataset.n === '0'")
	p.press("j")
	require.Equal(t, "1", eval[string](p, focused+".dataset.n"))
	p.press("]")
	p.until(focused + ".dataset.n === '5'")
	p.press("[")
	p.until(focused + ".dataset.n === '0'")
	p.press(kb.End)
	p.until(focused + ".dataset.n === '10'")
	p.press(kb.Home)
	p.until(focused + ".dataset.n === '0'")

	p.do(focusOn("#tab-transcript"))
	p.press(kb.ArrowRight)
	p.until("document.querySelectorAll('.event .name').length > 3")
	p.do(focusOn("#event-rows"))
	p.press("j", "j", kb.Enter)
	p.until("(document.querySelector('.viewer pre')?.textContent ?? '').includes('{')")
	require.Equal(t, "event-1", eval[string](p, focused+".getAttribute('aria-activedescendant')"))
	p.press(kb.Escape)
	p.until("document.querySelector('.viewer').hidden")
	p.press(kb.End)
	p.until("document.querySelector('[aria-selected=true].event')?.dataset.i === '599'")
	p.do(focusOn("#event-name"))
	p.press("p", "r", "e", kb.Escape) // Escape leaves the field, not the session
	require.Equal(t, "/p/"+project+"/s/"+research, eval[string](p, "location.pathname"))

	p.do(focusOn("#resume"))
	p.press(kb.Enter)
	p.until("!document.querySelector('#resumed').hidden")
	p.until(focused + ".id === 'resume'")
	p.press(kb.Escape)
	p.until("!document.querySelector('#panel') && document.querySelectorAll('.session').length > 3")
}

// TestRoles looks for names of what has no text, and for one tab stop of tabs.
func TestRoles(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(research)+"#phases", cards+" === 4")
	require.Equal(t, 1, eval[int](p, "[...document.querySelectorAll('[role=tab]')].filter((t) => t.tabIndex === 0).length"))
	require.Equal(t, 0, eval[int](p, "[...document.querySelectorAll('button, a, input, select')].filter((e) => !(e.textContent.trim() || e.ariaLabel || e.closest('label'))).length"))
	require.Equal(t, "false", eval[string](p, "document.querySelector('.prompt-header button').ariaExpanded"))
	require.Equal(t, "tab-phases", eval[string](p, "document.querySelector('[role=tabpanel]:not([hidden])').getAttribute('aria-labelledby')"))
}

// TestLooks compares dark with light and narrow with wide.
func TestLooks(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(research)+"#phases", cards+" === 4")
	// contrast is that of two colours, as the accessibility guidelines have it.
	const contrast = `((a, b) => { const l = (c) => c.match(/[\d.]+/g).slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0); const [x, y] = [l(a), l(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); })`
	colour := func(selector, property string) string {
		return "getComputedStyle(document.querySelector('" + selector + "'))." + property
	}
	seen := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		seen[eval[string](p, colour("body", "backgroundColor"))] = true
		for _, pair := range [][2]string{{"body", "body"}, {".phase-name", ".prompt-view-card"}, {".status-completed", ".status-completed"}, {".status-failed", ".status-failed"}, {".status-badge", ".status-badge"}, {"pre.error", ".error-section"}, {".facts dt", "body"}, {".resume-button", ".resume-button"}} {
			require.GreaterOrEqual(t, eval[float64](p, contrast+"("+colour(pair[0], "color")+", "+colour(pair[1], "backgroundColor")+")"), 4.5, "%s %v", scheme, pair)
		}
	}
	require.Len(t, seen, 2)
	const fits = "document.documentElement.scrollWidth <= innerWidth && document.querySelector('#panel').scrollWidth <= innerWidth"
	for _, width := range []int64{1600, 1000, 760, 390, 320} {
		p.size(width, 800)
		for _, tab := range []string{"phases", "transcript", "events"} {
			p.click("#tab-" + tab)
			require.True(t, eval[bool](p, fits), "%d %s", width, tab)
			require.True(t, eval[bool](p, "document.querySelector('#pane-"+tab+"').offsetHeight > 200"), "%d %s", width, tab)
		}
		require.Equal(t, width > 760, eval[bool](p, "document.querySelector('#sidebar').offsetParent !== null"), "%d", width)
	}
}

// focusOn gives an element the focus, as Tab does after some presses.
func focusOn(selector string) chromedp.Action { return chromedp.Focus(selector, chromedp.ByQuery) }
