package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestForgedOrigin asks from the page of another server on this machine, and
// from a name that leads here.
func TestForgedOrigin(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>evil</title>")
	}))
	t.Cleanup(evil.Close)
	statuses := make(chan int64, 100)
	asked, early := map[network.RequestID]bool{}, map[network.RequestID]int64{}
	chromedp.ListenTarget(p.ctx, func(event any) { // one after the other, but not in order
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			asked[e.RequestID] = strings.HasPrefix(e.Request.URL, at)
			if status, ok := early[e.RequestID]; ok && asked[e.RequestID] {
				statuses <- status
			}
		case *network.EventResponseReceivedExtraInfo: // also of answers that the page may not see
			if ours, sent := asked[e.RequestID]; !sent {
				early[e.RequestID] = e.StatusCode
			} else if ours {
				statuses <- e.StatusCode
			}
		}
	})
	p.do(network.Enable())
	p.open(evil.URL, "document.title === 'evil'")
	ask := func(script string) int64 {
		t.Helper()
		p.do(chromedp.Evaluate(script, nil, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
		return receive(t, statuses)
	}
	api := at + "/api" + address(research)
	for name, script := range map[string]string{
		"read":   `fetch("` + api + `/phases").catch(() => 0)`,
		"opaque": `fetch("` + api + `/phases", {mode: "no-cors"}).catch(() => 0)`,
		"post":   `fetch("` + api + `/resume", {method: "POST", mode: "no-cors"}).catch(() => 0)`,
		"image":  `new Promise((done) => { const i = new Image(); i.onerror = i.onload = () => done(0); i.src = "` + at + `/assets/icon.svg"; })`,
		"script": `new Promise((done) => { const s = document.createElement("script"); s.onerror = s.onload = () => done(0); s.src = "` + at + `/assets/app.js"; document.head.append(s); })`,
		"stream": `new Promise((done) => { const s = new EventSource("` + api + `/stream"); s.onerror = () => { s.close(); done(0); }; })`,
	} {
		require.Equal(t, int64(http.StatusForbidden), ask(script), name)
	}

	rebound := strings.Replace(at, "127.0.0.1", "rebound.example", 1)
	p.open(rebound+"/p/"+project, "document.body.textContent.includes('unknown host')")
	require.Zero(t, eval[int](p, "document.querySelectorAll('.session').length"))

	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 3")
	framed := `new Promise((done) => { const f = document.createElement("iframe"); f.onload = () => done(0); f.src = "` + at + `/p/` + project + `"; document.body.append(f); })`
	p.open(evil.URL, "document.title === 'evil'")
	for len(statuses) > 0 {
		<-statuses
	}
	require.Equal(t, int64(http.StatusForbidden), ask(framed), "frame")
}
