package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestDoor meets the closed door, and opens the address that the program printed: by hand,
// and from a file, as the program does.
func TestDoor(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	printed, _ := tokens.Load(at)
	tokens.Delete(at)
	p.open(at+address(research), "document.querySelector('h1')?.textContent === 'Open the address that the viewer printed'")
	p.shot("locked")
	require.NotContains(t, eval[string](p, "document.documentElement.outerHTML"), "research")
	file := filepath.Join(t.TempDir(), "sessions.html")
	require.NoError(t, os.WriteFile(file, []byte(`<!doctype html><meta http-equiv="refresh" content="0; url=`+printed.(string)+`">`), 0o600))
	for _, way := range []string{"file://" + file, printed.(string)} {
		p.do(network.ClearBrowserCookies())
		p.open(way, "document.querySelectorAll('.projects .session').length === 2")
		require.Equal(t, at+"/", eval[string](p, "location.href"), "the token has left the address")
		require.Empty(t, eval[string](p, "document.cookie"), "no script reads it")
		p.open(at+address(research)+"#phases", cards+" === 4 && document.querySelector('#live.on')")
	}
}

// TestToken resumes a session by a command: a page that was opened by the
// address with the token may do so, and no other.
func TestToken(t *testing.T) {
	_, err := os.Stat("/bin/true")
	testenv.Need(t, err == nil, "no /bin/true")
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serveWith(t, s.dir, web.Options{Token: "TOKEN234", Resume: []string{"/bin/true"}})
	p.open(at+address(research)+"#phases", cards+" === 4")
	p.do(evaluate("localStorage.clear()"))
	p.click("#resume")
	p.until("document.querySelector('#resumed [role=alert]')?.textContent.includes('open the address that the viewer printed')")
	p.open(at+"/#token=TOKEN234", "document.querySelectorAll('.projects .session').length === 2")
	p.until("location.hash === ''")
	p.open(at+address(research)+"#phases", cards+" === 4 && document.querySelector('#live.on')")
	p.click("#resume")
	p.until("document.querySelector('#resumed').textContent.includes('The command was started.')")

	// A conversation begins while the page is open.
	require.True(t, eval[bool](p, "document.querySelector('#tab-conversation').hidden"))
	_, err = s.log.AddMessage(t.Context(), research, new("plan"), "assistant", "# Begun")
	require.NoError(t, err)
	p.until("!document.querySelector('#tab-conversation').hidden")
	p.click("#tab-conversation")
	p.until("document.querySelector('#conversation h1')?.textContent === 'Begun'")
	_, err = s.log.AddMessage(t.Context(), research, nil, "user", attack)
	require.NoError(t, err)
	p.until("document.querySelectorAll('#conversation .message').length === 2")
	require.Equal(t, attack, p.text("#conversation .message:last-child pre"))
	require.True(t, eval[bool](p, "window.broken === undefined"))
}
