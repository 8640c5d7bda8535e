package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// turns writes a session of n turns, each of two messages with some lines.
func (s *sample) turns(id string, n int) {
	s.create(id, map[string]any{"name": "many turns"})
	var msgs []sessionstore.Message
	for i := range n {
		msgs = append(msgs, s.said("user", fmt.Sprintf("Question %d", i+1)), s.said("assistant", fmt.Sprintf("Answer %d.%s", i+1, strings.Repeat("\nBecause it is so.", i%30))))
	}
	s.add(id, msgs...)
}

// atTop is true when the mark of a turn stands where the messages begin.
func atTop(turn int) string {
	return fmt.Sprintf("[...document.querySelectorAll('.turn-mark')].some((m) => m.textContent === 'Turn %d' && Math.abs(m.getBoundingClientRect().top - document.querySelector('#messages').getBoundingClientRect().top) < 40)", turn)
}

const atEnd = "((b) => b.scrollHeight - b.scrollTop - b.clientHeight < 80)(document.querySelector('#messages'))"

// TestOpensAtTheLastTurn opens a long session and goes to a turn by its number.
// What lies between is never asked for.
func TestOpensAtTheLastTurn(t *testing.T) {
	s := newSample(t)
	s.turns(long, 1000)
	s.add(long, s.said("user", "The last question"), s.said("assistant", strings.Repeat("A line of the last answer.\n\n", 60)))
	p := browse(t)
	at := serve(t, s.dir)
	asked := p.requests()
	p.open(at+address(long)+"#transcript", atTop(1001))
	require.NotEqual(t, "messages", eval[string](p, "document.activeElement.id"))
	require.LessOrEqual(t, asked.of("/messages?"), 7, "20 messages each")
	p.do(evaluate("(() => { const i = document.querySelector('#turn'); i.value = 500; i.dispatchEvent(new Event('change')); })()"))
	p.until(atTop(500))
	require.LessOrEqual(t, asked.of("/messages?"), 14)
	require.Less(t, eval[int](p, "document.querySelectorAll('*').length"), 2000)
	require.Equal(t, "#999", eval[string](p, "location.hash"))
	p.do(chromedp.Reload())
	p.until(atTop(500))
	p.click("#to-end")
	p.until(atEnd)
	require.Equal(t, "#transcript", eval[string](p, "location.hash"))
}

// TestNewMessages looks on while others write: at the end, away from it, and at
// another view.
func TestNewMessages(t *testing.T) {
	s := newSample(t)
	s.turns(long, 61)
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(long)+"#transcript", "document.querySelector('#live.on') && "+atEnd+" && document.querySelector('[data-n=\"121\"]')")
	say := func(text string) {
		s.outside(job{Session: long, Say: text})
		p.until("document.querySelector('#message-count').textContent === '" + fmt.Sprint(s.count(long)) + " messages'")
	}
	say("in sight")
	p.until(atEnd + " && document.querySelector('#messages').textContent.includes('in sight')")
	require.True(t, eval[bool](p, "document.querySelector('#fresh').hidden"))

	p.do(evaluate("document.querySelector('#messages').scrollTop -= 900"))
	p.until("!" + atEnd)
	for i, want := range []string{"1 new", "2 new", "3 new"} {
		say(fmt.Sprint("below ", i))
		p.until("document.querySelector('#fresh').textContent === '" + want + "' && !document.querySelector('#fresh').hidden")
	}
	require.False(t, eval[bool](p, atEnd), "the reader stays where he is")
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.shot("new-" + scheme)
	}
	p.click("#fresh")
	p.until(atEnd + " && document.querySelector('#fresh').hidden")
	require.Contains(t, eval[string](p, "document.activeElement.textContent"), "below 2")

	p.click("#tab-phases")
	say("while another view is shown")
	p.click("#tab-transcript")
	p.until(atEnd + " && document.querySelector('#messages').textContent.includes('another view')")

	p.do(evaluate("document.querySelector('#messages').scrollTop -= 900"))
	p.until("!" + atEnd)
	say("seen by scrolling")
	p.until("!document.querySelector('#fresh').hidden")
	p.do(evaluate("((b) => b.scrollTop = b.scrollHeight)(document.querySelector('#messages'))"))
	p.until("document.querySelector('#fresh').hidden")
}

func (s *sample) count(id string) int {
	msgs, err := s.store.Load(s.t.Context(), id)
	require.NoError(s.t, err)
	return len(msgs.Messages)
}
