package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
)

const (
	actionsOpen  = "document.querySelector('#actions').open"
	focused      = "document.activeElement"
	fourMessages = "document.querySelectorAll('.message').length === 4 && document.querySelector('#live.on')"
	password     = "hx7Qm2Lp9Zt4Wv8R"
)

// TestActions copies the resume command, exports and forks by keys alone, in one
// browser.
func TestActions(t *testing.T) {
	s := newSample(t)
	s.create(finished, map[string]any{"name": "the parent"})
	s.add(finished, s.said("user", "API_KEY="+password), s.said("assistant", "One."), s.said("user", "Second?"), s.said("assistant", "Two."))
	p := browse(t)
	t.Run("copy", func(t *testing.T) { copyCommand(s, p.in(t)) })
	t.Run("export", func(t *testing.T) { exportFile(s, p.in(t)) })
	t.Run("fork", func(t *testing.T) { forkAfterATurn(s, p.in(t)) })
}

// copyCommand copies the resume command on a desk, and on a phone selects it where
// the browser does not let a page copy.
func copyCommand(s *sample, p *page) {
	at := serve(p.t, s.dir)
	const command = "cd /home/ada/weather && amplifier session resume " + finished
	allow := func(name string, setting browser.PermissionSetting) {
		p.do(browser.SetPermission(&browser.PermissionDescriptor{Name: name}, setting).WithOrigin(at))
	}
	p.size(1440, 860)
	p.open(at+address(finished)+"#transcript", fourMessages)
	require.Equal(p.t, 0, eval[int](p, "document.querySelectorAll('.fork').length"))
	allow("clipboard-read", browser.PermissionSettingGranted)
	allow("clipboard-write", browser.PermissionSettingGranted)
	p.press("a")
	p.until(actionsOpen)
	require.Equal(p.t, "copy", eval[string](p, focused+".id"))
	p.press(kb.Enter)
	p.until("document.querySelector('#copied').textContent === 'Copied.'")
	var copied string
	p.do(chromedp.Evaluate("navigator.clipboard.readText()", &copied, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	require.Equal(p.t, command, copied)
	p.press(kb.Escape)
	p.until("!" + actionsOpen)
	require.Contains(p.t, eval[string](p, "location.pathname"), finished, "Escape closes the actions alone")

	p.size(390, 860)
	allow("clipboard-write", browser.PermissionSettingDenied)
	p.do(focusOn("#actions-button"))
	p.press(kb.Enter)
	p.until(actionsOpen)
	require.Empty(p.t, p.text("#copied"))
	p.press(kb.Enter)
	p.until("document.querySelector('#copied').textContent.includes('The command is selected')")
	require.Equal(p.t, command, eval[string](p, focused+".id === 'command' && "+focused+".value.slice("+focused+".selectionStart, "+focused+".selectionEnd)"))
	p.press(kb.Escape)
	p.until("!" + actionsOpen + " && " + focused + ".id === 'actions-button'")
}

// exportFile downloads a session with its secrets and without.
func exportFile(s *sample, p *page) {
	at := serve(p.t, s.dir)
	dir := p.t.TempDir()
	done := make(chan browser.DownloadProgressState, 100)
	chromedp.ListenTarget(p.ctx, func(event any) {
		if e, ok := event.(*browser.EventDownloadProgress); ok && e.State != browser.DownloadProgressStateInProgress {
			done <- e.State
		}
	})
	p.do(browser.SetDownloadBehavior(browser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir).WithEventsEnabled(true))
	p.open(at+address(finished)+"#transcript", fourMessages)
	export := func(name string) string {
		p.t.Helper()
		p.press(kb.Enter)
		require.Equal(p.t, browser.DownloadProgressStateCompleted, receive(p.t, done))
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(p.t, err)
		return string(data)
	}
	p.press("a")
	p.until(actionsOpen)
	p.press(kb.Tab)
	require.Contains(p.t, export("session-"+finished+".md"), password)
	p.do(focusOn("#redact"))
	p.press(" ")
	p.do(focusOn("#exports li:nth-child(3) a"))
	lines := export("session-" + finished + ".redacted.jsonl")
	require.NotContains(p.t, lines, password)
	require.Contains(p.t, lines, "[redacted:")
	require.True(p.t, eval[bool](p, actionsOpen+" && document.querySelector('#live.on') !== null"), "the page stays")
}

// forkAfterATurn is told what is wrong without the token, on a desk, and forks
// with it, on a phone.
func forkAfterATurn(s *sample, p *page) {
	at := serveWith(p.t, s.dir, web.Options{Token: "TOKEN234", Write: true})
	p.size(1440, 860)
	p.open(at+address(finished)+"#transcript", fourMessages)
	p.do(evaluate("localStorage.clear()"), focusOn(".fork"))
	p.press(kb.Enter)
	p.until("document.querySelector('.turn-mark [role=alert]')?.textContent.includes('open the address that the viewer printed')")
	p.until(focused + ".className === 'fork'")
	p.size(390, 860)
	p.open(at+address(finished)+"#token=TOKEN234", "location.hash === '' && "+fourMessages)
	p.do(focusOn(".fork"))
	require.Equal(p.t, "Fork after turn 1", eval[string](p, focused+".ariaLabel"))
	p.press(kb.Enter)
	p.until("!location.pathname.endsWith('" + finished + "') && location.hash === '#transcript' && document.querySelectorAll('.message').length === 2")
	p.until("document.querySelector('#lineage').textContent.includes('forked at turn 1 from the parent')")
}
