package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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
	ask := p.asker()
	p.enter(at)
	p.open(evil.URL, "document.title === 'evil'")
	api := at + "/api" + address(research)
	for name, request := range map[string][2]string{ // an address, and what asks for it
		"read":   {api + "/phases", `fetch(url).catch(() => 0)`},
		"opaque": {api + "/phases?opaque", `fetch(url, {mode: "no-cors"}).catch(() => 0)`},
		"post":   {api + "/resume", `fetch(url, {method: "POST", mode: "no-cors"}).catch(() => 0)`},
		"image":  {at + "/assets/icon.svg", `new Promise((done) => { const i = new Image(); i.onerror = i.onload = () => done(0); i.src = url; })`},
		"script": {at + "/assets/app.js", `new Promise((done) => { const s = document.createElement("script"); s.onerror = s.onload = () => done(0); s.src = url; document.head.append(s); })`},
		"stream": {api + "/stream", `new Promise((done) => { const s = new EventSource(url); s.onerror = () => { s.close(); done(0); }; })`},
	} {
		require.Equal(t, int64(http.StatusForbidden), ask(request[0], request[1]), name)
	}

	rebound := strings.Replace(at, "127.0.0.1", "rebound.example", 1)
	p.open(rebound+"/p/"+project, "document.body.textContent.includes('unknown host')")
	require.Zero(t, eval[int](p, "document.querySelectorAll('.session').length"))

	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 3")
	p.open(evil.URL, "document.title === 'evil'")
	require.Equal(t, int64(http.StatusForbidden), ask(at+"/p/"+project+"?framed",
		`new Promise((done) => { const f = document.createElement("iframe"); f.onload = () => done(0); f.src = url; document.body.append(f); })`), "frame")
}

// asker returns a function that lets a script ask for url, and returns the
// status of the answer, also of one that the page may not see. Answers to other
// addresses may come at any time, from the pages that were open before.
func (p *page) asker() (ask func(url, script string) int64) {
	p.t.Helper()
	var mu sync.Mutex // guards what follows
	addresses, statuses := map[network.RequestID]string{}, map[network.RequestID]int64{}
	answers := map[string]chan int64{}
	chromedp.ListenTarget(p.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		var id network.RequestID
		switch e := event.(type) { // these come in any order
		case *network.EventRequestWillBeSent:
			id = e.RequestID
			addresses[id] = e.Request.URL
		case *network.EventResponseReceivedExtraInfo:
			id = e.RequestID
			statuses[id] = e.StatusCode
		default:
			return
		}
		answer := answers[addresses[id]]
		if status, there := statuses[id]; there && answer != nil {
			select {
			case answer <- status:
			default: // it was asked for once
			}
		}
	})
	p.do(network.Enable())
	return func(url, script string) int64 {
		p.t.Helper()
		answer := make(chan int64, 1)
		mu.Lock()
		answers[url] = answer
		mu.Unlock()
		script = fmt.Sprintf("((url) => %s)(%q)", script, url)
		p.do(chromedp.Evaluate(script, nil, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
		return receive(p.t, answer)
	}
}
