package browsertest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// hold presses the mouse on an element, and releases it at the same place once
// while has returned.
func (p *page) hold(selector string, while func()) {
	p.t.Helper()
	at := eval[[]float64](p, "(() => { const e = document.querySelector('"+selector+"'); e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
	left := chromedp.ButtonType(input.Left)
	p.do(chromedp.MouseEvent(input.MousePressed, at[0], at[1], left, chromedp.ClickCount(1)))
	while()
	p.do(chromedp.MouseEvent(input.MouseReleased, at[0], at[1], left, chromedp.ClickCount(1)))
}

// TestClickWhileLive clicks on what is drawn again between press and release.
func TestClickWhileLive(t *testing.T) {
	s := newSample(t)
	s.fill()
	p := browse(t)
	at := serve(t, s.dir)
	const live = "document.querySelector('#live.on')"

	p.open(at+address(research)+"#events", live+" && document.querySelectorAll('.event .name').length > 3 && document.querySelector('#event-count').textContent === '600 events'")
	p.hold(".event:nth-child(4) .name", func() {
		s.events(research, eventslog.Event{Name: "just:now"})
		p.until("document.querySelector('.event').ariaSetSize === '601'")
	})
	p.until("(document.querySelector('.viewer pre')?.textContent ?? '').includes('\"n\": 3')")
	p.click("#event-end")
	p.until("[...document.querySelectorAll('.event .name')].at(-1)?.textContent === 'just:now'")
	p.hold("#event-600 .name", func() { // on a page that is asked for again
		s.events(research, eventslog.Event{Name: "even:later"})
		p.until("[...document.querySelectorAll('.event .name')].at(-1)?.textContent === 'even:later'")
	})
	p.until("(document.querySelector('.viewer pre')?.textContent ?? '').includes('just:now')")

	p.click("#tab-transcript")
	p.until("document.querySelector('.message[data-n=\"1\"] .call')")
	p.click(`.message[data-n="1"] .call summary`)
	p.until("document.querySelector('.message[data-n=\"1\"] .result .more')")
	p.hold(`.message[data-n="1"] .result .more`, func() {
		s.add(research, s.said("user", "And in Bern?"))
		p.until("document.querySelector('#messages').textContent.includes('And in Bern?')")
	})
	p.until("document.querySelector('.message[data-n=\"1\"] .result pre').textContent.endsWith('1943;10.9\\n') && !document.querySelector('.message[data-n=\"1\"] .result .more')")
	s.add(research, s.said("assistant", "I do not know."))
	p.until("document.querySelector('#messages').textContent.includes('I do not know.')")
	require.Zero(t, eval[int](p, "document.querySelectorAll('.message[data-n=\"1\"] .result .more').length"), "what was opened stays open")

	p.click("#tab-phases")
	p.until(cards + " === 4")
	p.hold(".prompt-view-card:nth-child(1) button", func() {
		// All cards of a log that is another one are shown anew.
		all, err := os.ReadFile(s.path(research, "phase_outputs.jsonl"))
		require.NoError(t, err)
		other := filepath.Join(t.TempDir(), "other")
		require.NoError(t, os.WriteFile(other, bytes.ReplaceAll(all, []byte("Plan the research"), []byte("Plan")), 0o600))
		require.NoError(t, os.Rename(other, s.path(research, "phase_outputs.jsonl")))
		p.until(cards + " === 4 && document.querySelector('.phase-name').textContent === 'Plan'")
	})
	p.until("document.querySelectorAll('.prompt-content').length === 1")

	set := func(name, value string) {
		_, err := s.store.UpdateMetadata(t.Context(), research, func(md *sessionstore.Metadata) error { return md.Set(name, value) })
		require.NoError(t, err)
	}
	item := `[data-id="` + research + `"] `
	p.hold(".close-button", func() {
		set("manifest_name", "otherwise")
		p.until("document.querySelector('#title').textContent === 'otherwise' && document.querySelector('" + item + ".title').textContent === 'otherwise'")
		require.Equal(t, "live", eval[string](p, "document.querySelector('#live').title"))
	})
	p.until("!document.querySelector('#panel') && location.pathname === '/p/" + project + "' && document.querySelectorAll('.session').length > 3")
	p.hold(item+".title", func() {
		set("status", "completed")
		p.until("document.querySelector('" + item + ".status').textContent === 'completed'")
	})
	p.until("document.querySelector('#title')?.textContent === 'otherwise'")
}
