package browsertest

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

var (
	shots = flag.String("shots", "", "directory for pictures of what the tests see")
	large = flag.Bool("large", false, "measure large data too")
)

func TestMain(m *testing.M) { testenv.Main(m, children) }

// patience is how long a page may take on a busy machine.
const patience = 2 * time.Minute

var manifests = []workflow.Manifest{{Name: "Research", Phases: []string{"plan", "gather", "analyse", "write"}}}

// tokens are those of the servers, by their addresses without a path.
var tokens sync.Map

// serve serves dir until the test ends and returns the address, which needs a token: see
// [page.enter].
func serve(t *testing.T, dir string) string {
	t.Helper()
	return serveWith(t, dir, web.Options{})
}

func serveWith(t *testing.T, dir string, o web.Options) string {
	t.Helper()
	places, err := web.OpenPlaces(dir, manifests)
	require.NoError(t, err)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := web.New(places, l.Addr(), slog.New(slog.DiscardHandler), o)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	at := remember(server.URL())
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := server.Serve(ctx, l); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		wait.Wait()
		require.NoError(t, places.Close())
	})
	return at
}

// remember keeps the address of a server for enter, and returns it without the token.
func remember(url string) (at string) {
	at, _, _ = strings.Cut(url, "/?")
	tokens.Store(at, url)
	return at
}

// A page is a tab of a browser.
type page struct {
	t       *testing.T
	ctx     context.Context
	entered map[string]bool // addresses of servers that gave a cookie
}

// in returns the page for a test that is a part of another one.
func (p *page) in(t *testing.T) *page { return &page{t, p.ctx, p.entered} }

// enter opens the address that a server printed, when url is a page of that server and
// this browser did not yet.
func (p *page) enter(url string) {
	p.t.Helper()
	for at, printed := range tokens.Range {
		if at := at.(string); strings.HasPrefix(url, at) && !p.entered[at] {
			p.do(chromedp.Navigate(printed.(string)))
			p.entered[at] = true
		}
	}
}

// browse starts a browser of its own for a test, with an empty profile. It leaves the
// test to the soak, as testenv.Soak does.
func browse(t *testing.T) *page {
	t.Helper()
	testenv.Soak(t, "one test shows that pages work in a browser: TestSearch")
	return browseAlways(t)
}

// browseAlways starts a browser for the one test that always runs.
func browseAlways(t *testing.T) *page {
	t.Helper()
	path, err := exec.LookPath("chromium")
	testenv.Need(t, err == nil, "no chromium")
	own := browserDir(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WindowSize(1280, 860),
		chromedp.UserDataDir(filepath.Join(own, "profile")), chromedp.Env("TMPDIR="+own), chromedp.WSURLReadTimeout(2*time.Minute),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("allow-pre-commit-input", true), // else a click before a page's first picture is lost
		chromedp.Flag("host-resolver-rules", "MAP rebound.example 127.0.0.1"))
	ctx, stop := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Run(ctx)) // not bound to one action's time
	t.Cleanup(func() {
		// The browser ends by itself, or after that time.
		ctx, stop := context.WithTimeout(ctx, patience)
		defer stop()
		_ = chromedp.Cancel(ctx)
	})
	return &page{t, ctx, map[string]bool{}}
}

// browserDir returns a directory for the files of a browser. Some of its
// processes write there a little longer than it runs, so that the directory
// may have to be removed again; no test fails for what is left of it.
func browserDir(t *testing.T) string {
	t.Helper()
	place := os.TempDir()
	if len(place) > 40 {
		place = "/tmp" // paths of sockets have to be short
	}
	dir, err := os.MkdirTemp(place, "browser-")
	require.NoError(t, err)
	t.Cleanup(func() {
		var err error
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
		}
		t.Log(err)
	})
	return dir
}

// do runs actions and ends the test when they fail or take too long.
func (p *page) do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.shot("failed")
		require.NoError(p.t, err)
	}
}

// until waits until an expression of JavaScript is true in a page that is
// complete: what has no style yet is elsewhere when it is clicked. While it
// fails, as in a page that is about to go, it is not.
func (p *page) until(expression string) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	again := time.NewTicker(25 * time.Millisecond)
	defer again.Stop()
	for {
		var ok bool
		if err := chromedp.Run(ctx, chromedp.Evaluate("document.readyState === 'complete' && Boolean("+expression+")", &ok)); err == nil && ok {
			return
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			p.shot("failed")
			require.FailNow(p.t, "waited in vain", expression)
		}
	}
}

// eval returns the value of an expression.
func eval[T any](p *page, expression string) (value T) {
	p.t.Helper()
	p.do(chromedp.Evaluate(expression, &value))
	return value
}

// text returns the text of the first element that a selector finds.
func (p *page) text(selector string) string {
	p.t.Helper()
	return eval[string](p, "document.querySelector(`"+selector+"`)?.textContent ?? ''")
}

// size makes the window that large.
func (p *page) size(width, height int64) { p.do(chromedp.EmulateViewport(width, height)) }

// scheme makes the browser prefer dark or light.
func (p *page) scheme(name string) {
	p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}))
}

// shot takes a picture when they are asked for.
func (p *page) shot(name string) {
	if *shots == "" {
		return
	}
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	var png []byte
	if err := chromedp.Run(ctx, chromedp.CaptureScreenshot(&png)); err != nil {
		p.t.Logf("picture %s: %v", name, err)
		return
	}
	require.NoError(p.t, os.MkdirAll(*shots, 0o700))
	require.NoError(p.t, os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o600))
}

// receive returns what comes from a channel within a page's time.
func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		require.FailNow(t, "waited in vain")
	}
	return value
}

// evaluate runs a statement.
func evaluate(script string) chromedp.Action { return chromedp.Evaluate(script, nil) }
