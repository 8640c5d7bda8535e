package browsertest

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

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
