package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestFocusIsKept opens and closes sessions by keys and looks where keys go then.
func TestFocusIsKept(t *testing.T) {
	s := newSample(t)
	s.fill()
	s.add(finished, s.said("assistant", strings.Repeat("A long answer. ", 1000)))
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 3")
	p.press("j", "j", "j", kb.Enter)
	p.until("document.querySelector('#panel') && " + focused + ".parentElement.dataset.id === '" + recovered + "'")
	p.press("k", kb.Enter)
	p.until("location.pathname.endsWith('" + damaged + "') && " + focused + ".parentElement.dataset.id === '" + damaged + "'")
	p.press(kb.Escape)
	p.until("!document.querySelector('#panel') && " + focused + ".parentElement.dataset?.id === '" + damaged + "'")

	p.open(at+address(finished)+"#transcript", "document.querySelector('.message .more')")
	p.do(focusOn(".message .more"))
	p.press(kb.Enter)
	p.until("!document.querySelector('.message .more')")
	require.Equal(t, "body markdown", eval[string](p, focused+".className"))
	require.True(t, eval[bool](p, "document.querySelector('.message:last-child').contains("+focused+")"))

	// On a phone the list gives way to the session.
	p.size(390, 800)
	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 3")
	p.press("j", kb.Enter)
	p.until("document.querySelector('#panel') && " + focused + ".id === 'panel'")
}

// TestHelpKeys asks for the keys, goes to fields and past the list.
func TestHelpKeys(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(research)+"#events", "document.querySelectorAll('.event .name').length > 3")
	p.press(kb.Tab)
	require.Equal(t, "skip", eval[string](p, focused+".className"))
	require.GreaterOrEqual(t, eval[float64](p, focused+".getBoundingClientRect().top"), float64(0), "the link shows itself")
	p.press(kb.Enter)
	require.Equal(t, "panel", eval[string](p, focused+".id"))
	require.Equal(t, "#events", eval[string](p, "location.hash"))
	p.press("?")
	p.until("document.querySelector('#keys').open")
	p.shot("keys")
	p.press(kb.Escape)
	p.until("!document.querySelector('#keys').open")
	require.Contains(t, eval[string](p, "location.pathname"), research, "Escape closes the keys alone")
	p.press("/")
	require.Equal(t, "event-name", eval[string](p, focused+".id"))
	p.do(evaluate(focused + ".value = ''")) // the browser's driver types the key that was taken, too
	p.press("?", "/")
	require.Equal(t, "?/", eval[string](p, focused+".value"))
	require.False(t, eval[bool](p, "document.querySelector('#keys').open"))
}

// TestPhoneShowsTheLineage looks at a session with many relatives on a phone.
func TestPhoneShowsTheLineage(t *testing.T) {
	s := newSample(t)
	s.create(finished, map[string]any{"name": "root"})
	s.add(finished, s.said("user", "Why?"), s.said("assistant", "So."))
	for i := range 9 {
		s.create(sessionstore.NewSubID(finished, fmt.Sprint("scout-", i), ""), map[string]any{"name": fmt.Sprintf("scout %d %s", i, strings.Repeat("of-the-long-name", 4)), "parent_id": finished})
	}
	p := browse(t)
	at := serve(t, s.dir)
	for _, width := range []int64{390, 320} {
		p.size(width, 800)
		p.open(at+address(finished)+"#transcript", "document.querySelectorAll('#lineage a').length === 9 && document.querySelectorAll('.message').length === 2")
		p.shot(fmt.Sprint("lineage-", width))
		require.True(t, eval[bool](p, "[...document.querySelectorAll('#lineage .relative')].every((r) => { const b = r.getBoundingClientRect(), n = document.querySelector('#lineage').getBoundingClientRect(); return b.width > 0 && b.right <= innerWidth && b.bottom <= n.bottom + 1; })"))
		require.True(t, eval[bool](p, "document.querySelector('#lineage').scrollHeight <= document.querySelector('#lineage').clientHeight + 1"))
		require.Greater(t, eval[float64](p, "document.querySelector('#messages').clientHeight"), float64(300), "messages keep their place")
	}
}

// TestBidiIsShown measures where a name with an override in it stands.
func TestBidiIsShown(t *testing.T) {
	s := newSample(t)
	const turned = "photo\u202egpj.exe"
	s.create(finished, map[string]any{"name": turned})
	s.add(finished, s.said("user", turned))
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(finished)+"#transcript", "document.querySelectorAll('.message').length === 1")
	const shown = "photo[U+202E]gpj.exe"
	require.Equal(t, shown, p.text(".session .title"))
	require.Equal(t, shown, p.text("#title"))
	require.Equal(t, shown, p.text(".message pre"))
	require.Contains(t, eval[string](p, "document.title"), shown)
	s.outside(job{Session: finished, Say: "live " + turned})
	p.until("document.querySelectorAll('.message').length === 2")
	require.Equal(t, "live "+shown, p.text(".message:last-child pre"))
}
