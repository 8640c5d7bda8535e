package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestSearch finds a text over sessions, opens a message in which it stands, and
// finds another one inside the session, by keys alone. It is the one test with a
// browser that always runs.
func TestSearch(t *testing.T) {
	s := newSample(t)
	s.fill()
	s.turns(long, 300)
	p := browseAlways(t)
	at := serve(t, s.dir)
	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 3")
	p.press("/")
	require.Equal(t, "search", eval[string](p, focused+".id"))
	p.do(evaluate(focused + ".value = ''")) // the browser's driver types the key that was taken, too
	p.press("q", "u", "e", "s", "t", "i", "o", "n", " ", "1", "5", "0", kb.Enter)
	p.until("document.querySelectorAll('.hit').length === 1")
	require.Equal(t, "1 session; some sessions are damaged and were not read whole", p.text("[role=status]"))
	require.Equal(t, "Question 150", p.text(".hit mark"))
	p.shot("search-one")
	p.click(".hit")
	const found = "document.querySelector('.message.found')"
	p.until(found + "?.dataset.n === '298'")
	inSight := "((b, m) => m.top > b.top - 60 && m.top < b.bottom)(document.querySelector('#messages').getBoundingClientRect(), " + found + ".getBoundingClientRect())"
	p.until(inSight)

	p.do(focusOn("#find"))
	p.press("a", "n", "s", "w", "e", "r", " ", "2", "0", kb.Enter)
	p.until("document.querySelector('#find-count').textContent === '1 of 11 messages' && " + found + "?.dataset.n === '39'")
	p.press(kb.Enter)
	p.until("document.querySelector('#find-count').textContent === '2 of 11 messages' && " + found + "?.dataset.n === '399'")
	p.until(inSight)
	require.Equal(t, "find", eval[string](p, focused+".id"), "the field keeps the focus")
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.size(1440, 860)
		p.shot("find-wide-" + scheme)
		p.size(390, 800)
		p.shot("find-phone-" + scheme)
		require.True(t, eval[bool](p, "document.documentElement.scrollWidth <= innerWidth"))
	}
	p.size(1280, 860)
	p.click("#find-before")
	p.until("document.querySelector('#find-count').textContent === '1 of 11 messages'")
	p.do(evaluate("document.querySelector('#find').value = 'never said'"))
	p.click("#find-next")
	p.until("document.querySelector('#find-count').textContent === 'not found'")

	// What is found is text, as everything that a session holds.
	p.open(at+"/search?q=window.broken", "document.querySelectorAll('.hit').length >= 2")
	require.Equal(t, 0, eval[int](p, "window.broken ?? 0"))
	require.Equal(t, 0, eval[int](p, "document.querySelectorAll('img, script:not([src])').length"))
	p.size(390, 800)
	p.scheme("light")
	p.shot("search-phone")
	require.True(t, eval[bool](p, "document.documentElement.scrollWidth <= innerWidth"))
}
