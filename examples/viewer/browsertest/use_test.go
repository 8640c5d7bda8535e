package browsertest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

const cards = "document.querySelectorAll('.prompt-view-card').length"

// requests are the paths that a page asks for.
type requests struct {
	mu    sync.Mutex // guards paths
	paths []string
}

func (p *page) requests() *requests {
	r := &requests{}
	chromedp.ListenTarget(p.ctx, func(event any) {
		if e, ok := event.(*network.EventRequestWillBeSent); ok {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.paths = append(r.paths, e.Request.URL)
		}
	})
	p.do(network.Enable())
	return r
}

// of returns how many of them have a part in their path.
func (r *requests) of(part string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range r.paths {
		if strings.Contains(path, part) {
			n++
		}
	}
	return n
}

// records returns how often records of phases were asked for.
func (r *requests) records() int { return r.of("/phases/") }

// open goes to a page and waits until it shows something.
func (p *page) open(url, ready string) {
	p.t.Helper()
	p.enter(url)
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(url))
	p.until(ready)
}

// press presses keys, one after the other.
func (p *page) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(chromedp.KeyEvent(key))
	}
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(selector, chromedp.ByQuery))
}

// TestPanel opens and closes a session, and opens its cards.
func TestPanel(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	asked := p.requests()
	p.open(at+"/", "document.querySelectorAll('.projects .session').length === 2")
	p.click(`a[href="/p/` + project + `"]`)
	p.until("document.querySelectorAll('.session .mark.damage').length > 0 && document.querySelectorAll('.session .mark:not([hidden])').length >= 3")
	require.Equal(t, "damaged", p.text(`[data-id="`+damaged+`"] .mark.damage`))
	require.Equal(t, "recovered", p.text(`[data-id="`+recovered+`"] .mark.recovered`))
	require.Contains(t, p.text(`[data-id="`+forked+`"]`), "parent")

	p.click(`[data-id="` + research + `"] a`)
	p.until(cards + " === 4")
	require.Equal(t, "Research", p.text("#title"))
	require.Equal(t, "in_progress", p.text(".status-badge"))
	require.Equal(t, "×", p.text(".close-button"))
	require.Equal(t, "Phase Outputs (4)", p.text(".phase-outputs h3"))
	require.Equal(t, "▶ Resume Session", p.text(".resume-button"))
	require.Equal(t, "▶▶▶▶", eval[string](p, "[...document.querySelectorAll('.chevron')].map((c) => c.textContent).join('')"))
	require.Contains(t, p.text(".prompt-view-card:nth-child(1) .output-section .markdown li:nth-child(2)"), "compare means")
	failed := ".prompt-view-card:nth-child(3) "
	require.Equal(t, "failed", p.text(failed+".status-failed"))
	require.Contains(t, p.text(failed+".error-section pre.error"), "529 overloaded")
	require.True(t, eval[bool](p, "document.querySelector('"+failed+".output-section').hidden"))
	require.True(t, eval[bool](p, "document.querySelector('.prompt-view-card .error-section').hidden"))
	require.Zero(t, asked.records(), "no prompt is asked for before its card is opened")

	p.click(".prompt-view-card:nth-child(1) button")
	p.until("document.querySelectorAll('.prompt-content').length === 1")
	require.Equal(t, 1, asked.records())
	p.click(failed + "button")
	p.until("document.querySelectorAll('.prompt-content').length === 2")
	require.Equal(t, 2, asked.records())
	require.Equal(t, "▼▶▼▶", eval[string](p, "[...document.querySelectorAll('.chevron')].map((c) => c.textContent).join('')"))
	require.Equal(t, "System Prompt", p.text(".system-prompt h4"))
	require.Contains(t, p.text(".system-prompt pre"), attack)
	require.Equal(t, "Manifest: Plan the research", p.text(".user-input pre"))
	p.click(".prompt-view-card:nth-child(1) button")
	p.until("document.querySelectorAll('.prompt-content').length === 1")

	p.until("document.querySelectorAll('#lineage a').length === 2")
	p.click(`#lineage a[href="` + address(forked) + `"]`)
	p.until("document.querySelector('#lineage a') !== null && location.pathname.endsWith('" + forked + "')")
	require.Contains(t, p.text("#lineage"), "forked at turn 1 from Research")
	p.click("#lineage a")
	p.until(cards + " === 4")
	p.click(".close-button")
	p.until("!document.querySelector('#panel') && location.pathname === '/p/" + project + "'")
}

// TestHostileSession looks at a session that tries to run scripts.
func TestHostileSession(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	safe := func() {
		t.Helper()
		require.Equal(t, 0, eval[int](p, "window.broken ?? 0"))
		require.Equal(t, 0, eval[int](p, "document.querySelectorAll('img, script:not([src])').length"))
	}
	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 3")
	safe()
	p.open(at+address(hostile)+"#phases", cards+" === 1")
	p.click(".prompt-header button")
	p.until("document.querySelector('.prompt-content')")
	require.Equal(t, attack, p.text(".phase-name"))
	require.Equal(t, attack, strings.TrimSpace(p.text(".output-section .markdown pre")))
	safe()
	p.click("#tab-transcript")
	p.until("document.querySelectorAll('.message').length === 3")
	require.Equal(t, attack, p.text(".message.user pre"))
	require.Equal(t, attack, p.text(".call .name"))
	require.Equal(t, attack, p.text(".call .gist"))
	p.click(".call summary")
	p.until("document.querySelector('.call .result pre')")
	require.Equal(t, attack, p.text(".call .result pre"))
	safe()
	p.click("#tab-events")
	p.until("document.querySelector('.event .name')")
	require.Equal(t, attack, p.text(".event .name"))
	p.click(".event")
	p.until("(document.querySelector('.viewer pre')?.textContent ?? '').includes('window.broken')")
	safe()
	// Even code that gets into the page does not run.
	p.do(chromedp.Evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.broken = 3\">')", nil))
	p.until("document.querySelector('img').complete")
	require.Equal(t, 0, eval[int](p, "window.broken ?? 0"))
}

// TestResume resumes, and meets every error of the contract.
func TestResume(t *testing.T) {
	s := newSample(t)
	s.fill()
	const none = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c010"
	s.create(none, map[string]any{"status": "in_progress"})
	p := browse(t)
	at := serve(t, s.dir)

	// The request waits until the page was looked at.
	held := make(chan fetch.RequestID, 10)
	chromedp.ListenTarget(p.ctx, func(event any) {
		if e, ok := event.(*fetch.EventRequestPaused); ok {
			held <- e.RequestID
		}
	})
	idle := func() {
		t.Helper()
		p.until("!document.querySelector('#resumed').hidden")
		require.Equal(t, "▶ Resume Session", p.text("#resume"))
		require.False(t, eval[bool](p, "document.querySelector('#resume').disabled"))
	}
	resume := func() {
		t.Helper()
		p.click("#resume")
		id := receive(t, held)
		require.Equal(t, "Resuming...", p.text("#resume"))
		require.True(t, eval[bool](p, "document.querySelector('#resume').disabled"))
		p.shot("resuming")
		p.do(fetch.ContinueRequest(id))
		idle()
	}
	// Without the stream the page does not learn of a status that changed.
	p.do(network.Enable(), network.SetBlockedURLs([]string{"*/stream*"}), fetch.Enable().WithPatterns([]*fetch.RequestPattern{{URLPattern: "*/resume"}}))
	p.open(at+address(research), cards+" === 4")
	resume()
	require.Equal(t, "Next phase: analyse", p.text("#resumed .next"))
	require.Equal(t, 4, eval[int](p, "document.querySelectorAll('#resumed li').length"))
	require.Equal(t, "Manifest: Plan the research", p.text("#resumed li.user pre"))
	p.shot("resumed")

	for status, want := range map[string]string{"completed": " already completed", "failed": " failed and cannot be resumed", "odd": " has invalid status: odd"} {
		_, err := s.store.UpdateMetadata(t.Context(), research, func(md *sessionstore.Metadata) error { return md.Set("status", status) })
		require.NoError(t, err)
		resume()
		require.Equal(t, "Session "+research+want, p.text("#resumed .error"))
		p.shot("resume-" + status)
	}
	p.open(at+address(none), "document.querySelector('#resume')?.offsetParent")
	resume()
	require.Equal(t, "Session "+none+" has no completed phases to resume from", p.text("#resumed .error"))
	require.NoError(t, s.store.Delete(t.Context(), none))
	resume()
	require.Contains(t, p.text("#resumed .error"), "Session "+none+" not found")
	p.open(at+address(finished), cards+" === 1")
	require.True(t, eval[bool](p, "document.querySelector('#footer').hidden"), "a completed session has no button")
}

// outside lets another process do a job, and returns when it was done.
func (s *sample) outside(j job) time.Time {
	s.t.Helper()
	argument, err := json.Marshal(j)
	require.NoError(s.t, err)
	lines := testenv.Spawn(s.t, "agent", s.store.Dir(), string(argument)).End(s.t)
	require.Len(s.t, lines, 1)
	at, err := strconv.ParseInt(lines[0], 10, 64)
	require.NoError(s.t, err)
	return time.UnixMilli(at)
}

// TestLive looks on while another process works.
func TestLive(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(research)+"#phases", cards+" === 4 && document.querySelector('#live.on')")
	asked := p.requests()
	// within acts until the page shows what was done within two seconds, as it
	// mostly does at once: a busy machine may take longer now and then.
	within := func(what string, act func(n int) (done time.Time, expression string)) {
		t.Helper()
		for n := 1; ; n++ {
			done, expression := act(n)
			p.until(expression)
			took := time.Since(done)
			t.Logf("%s seen after %v", what, took.Round(time.Millisecond))
			if took < 2*time.Second {
				return
			}
			require.Less(t, n, 30, "%s is never seen in time", what)
		}
	}
	within("changed phase", func(n int) (time.Time, string) {
		output := fmt.Sprint("written by another process ", n)
		done := s.outside(job{Session: research, Phase: &workflow.PhaseOutput{PhaseID: "write", PhaseName: "Write the report", Status: "completed", Output: &output}})
		return done, "document.querySelector('.prompt-view-card:nth-child(4) .output-section .markdown p').textContent === '" + output + "'"
	})
	require.Equal(t, "completed", p.text(".prompt-view-card:nth-child(4) .status"))
	phases := 4
	within("new phase", func(n int) (time.Time, string) {
		phases++
		done := s.outside(job{Session: research, Prompt: 1 << 20, Phase: &workflow.PhaseOutput{PhaseID: fmt.Sprint("extra ", n), PhaseName: "Extra", Status: "running"}})
		return done, fmt.Sprint(cards, " === ", phases)
	})
	require.Equal(t, fmt.Sprintf("Phase Outputs (%d)", phases), p.text(".phase-outputs h3"))
	require.Zero(t, asked.records())

	p.click("#tab-transcript")
	p.until("document.querySelectorAll('.message').length > 0")
	within("message", func(n int) (time.Time, string) {
		say := fmt.Sprintf("Are you there? %d", n)
		return s.outside(job{Session: research, Say: say}), "document.querySelector('#messages').textContent.includes('" + say + "')"
	})
	p.click("#tab-events")
	p.until("document.querySelector('#event-count').textContent === '600 events'")
	within("event", func(n int) (time.Time, string) {
		done := s.outside(job{Session: research, Event: "just:now"})
		return done, fmt.Sprintf("document.querySelector('#event-count').textContent === '%d events'", 600+n)
	})
	within("status", func(n int) (time.Time, string) {
		status, hidden := "completed", "hidden"
		if n%2 == 0 {
			status, hidden = "in_progress", "hidden === false"
		}
		require.NoError(t, s.log.SetStatus(t.Context(), research, status))
		return time.Now(), "document.querySelector('.status-badge').textContent === '" + status + "' && document.querySelector('#footer')." + hidden
	})
	within("session", func(n int) (time.Time, string) {
		name := fmt.Sprint("brand new ", n)
		s.create(fmt.Sprintf("5f0c9a61-2d0b-4f53-8a55-6b0a10f7c1%02d", n), map[string]any{"name": name})
		return time.Now(), "document.querySelector('#sessions').textContent.includes('" + name + "')"
	})
}
