package browsertest

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/eventslog"
)

// TestEventsOfMessages goes from an event to its message, and from a message to its
// events, by keys.
func TestEventsOfMessages(t *testing.T) {
	s := newSample(t)
	s.pictures()
	for range 300 {
		s.events(pictured, eventslog.Event{Name: "llm:request"})
	}
	call := map[string]any{"tool_call_id": "call_1"}
	s.events(pictured, eventslog.Event{Name: "tool:pre", Data: call}, eventslog.Event{Name: "tool:post", Data: call})
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(pictured)+"#events", "document.querySelector('#event-count').textContent === '302 events'")
	p.do(focusOn("#event-rows"))
	p.press(kb.End)
	p.until("document.querySelector('.event[aria-selected=true] .name')?.textContent === 'tool:post'")
	p.press(kb.Enter)
	p.until("document.querySelector('#event-view header a')?.textContent === 'message #2'")
	p.shot("event-of-message")
	p.do(focusOn("#event-view header a"))
	p.press(kb.Enter)
	p.until("!document.querySelector('#pane-transcript').hidden && document.querySelector('.found')?.dataset.n === '1'")
	p.do(focusOn(".found .raw"))
	require.Equal(t, "events of message 2", eval[string](p, focused+".ariaLabel"))
	p.press(kb.Enter)
	p.until("document.querySelector('#event-count').textContent === '2 events' && document.querySelectorAll('.event .name').length === 2")
	require.Equal(t, "of message #2 ×", p.text("#event-message"))
	p.size(390, 860)
	p.shot("events-of-message")
	require.True(t, eval[bool](p, "document.documentElement.scrollWidth <= innerWidth"))
	p.do(focusOn("#event-message"))
	p.press(kb.Enter)
	p.until("document.querySelector('#event-count').textContent === '302 events' && document.querySelector('#event-message').hidden")
}
