package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestFolds opens and closes calls by keys, finds what stands in them, and looks
// whether the reader's place is kept when a result comes.
func TestFolds(t *testing.T) {
	s := newSample(t)
	s.create(finished, map[string]any{"name": "calls"})
	for i := range 60 {
		id := fmt.Sprint("call_", i)
		s.add(finished, s.said("user", fmt.Sprint("Question ", i+1)), s.called(id, "shell", map[string]any{"command": fmt.Sprintf("grep photo\u202egpj.exe %d\n%s", i, attack)}), s.result(id, fmt.Sprintf("result of %d\n%s", i, strings.Repeat("a line\n", 300)+fmt.Sprint("end ", i))))
	}
	s.add(finished, s.called("call_last", "read_file", map[string]any{"path": "data/zurich.csv"}))
	p := browse(t)
	at := serve(t, s.dir)
	p.open(at+address(finished)+"#transcript", "document.querySelector('#live.on') && document.querySelectorAll('.message').length > 5")
	const open = "document.querySelectorAll('.call[open]').length"
	require.Equal(t, 0, eval[int](p, open))
	require.Equal(t, 0, eval[int](p, "document.querySelectorAll('.call pre').length"), "what is folded is not in the page")
	p.do(focusOn("#messages"))
	p.press(kb.Home)
	p.until(focused + ".dataset.n === '0'")
	const first = ".message[data-n='1'] .call"
	require.Equal(t, "shell", p.text(first+" .name"))
	require.Equal(t, "grep photo[U+202E]gpj.exe 0 "+attack, p.text(first+" .gist"))
	p.shot("folds")

	p.press("j")
	for i := 0; eval[string](p, focused+".nodeName") != "SUMMARY"; i++ {
		require.Less(t, i, 5)
		p.press(kb.Tab)
	}
	p.press(kb.Enter)
	p.until("document.querySelector(`" + first + "[open] .result pre`)")
	require.Contains(t, p.text(first+" .result pre"), "result of 0\n")
	require.Equal(t, "SUMMARY", eval[string](p, focused+".nodeName"))
	p.shot("fold-open")
	p.press(" ")
	p.until(open + " === 0")
	p.do(focusOn(".message[data-n='1']"))
	p.press(kb.Enter)
	p.until(open + " === 1")
	p.press(kb.Enter) // and all of the long result
	p.until("!document.querySelector(`" + first + " .more`) && document.querySelector(`" + first + " .result pre`).textContent.length > 2000")
	p.do(focusOn(".message[data-n='1']"))
	p.press(kb.Enter)
	p.until(open + " === 0")

	p.do(focusOn("#find"))
	p.press("r", "e", "s", "u", "l", "t", " ", "o", "f", " ", "4", "2", kb.Enter)
	p.until("document.querySelector('#find-count').textContent === '1 of 1 message'")
	p.until("document.querySelector(`.message.found[data-n='127'] .call[open] .result pre`)?.textContent.includes('result of 42')")
	require.True(t, eval[bool](p, "((b, m) => m.top >= b.top && m.top < b.bottom)(document.querySelector('#messages').getBoundingClientRect(), document.querySelector('.found .call').getBoundingClientRect())"))
	p.shot("fold-found")
	p.click("#to-top")
	p.until("!document.querySelector('.found')")
	p.click("#find-next")
	p.until("document.querySelector('.message.found .call[open]')")

	p.do(evaluate("document.querySelector('#find').value = 'END 33'")) // behind where the result is cut
	p.click("#find-next")
	p.until("document.querySelector(`.message.found[data-n='100'] .call[open] .result pre`)?.textContent.endsWith('end 33')")

	p.click("#to-end")
	const last = ".message[data-n='180'] .call"
	p.until("document.querySelector(`" + last + " .mark.damage`)")
	p.do(focusOn(last + " summary"))
	p.press(kb.Enter)
	p.until("document.querySelector(`" + last + "[open] .none`)")
	s.add(finished, s.result("call_last", "1864;8.1"))
	p.until("document.querySelector(`" + last + "[open] .result pre`)?.textContent === '1864;8.1'")
	require.False(t, eval[bool](p, "Boolean(document.querySelector(`"+last+" .mark`))"))
	require.Equal(t, "SUMMARY", eval[string](p, focused+".nodeName"), "the fold keeps the focus")
	require.Equal(t, 0, eval[int](p, "window.broken ?? 0"))
	require.Equal(t, 0, eval[int](p, "document.querySelectorAll('img, script:not([src])').length"))
}

// TestFewNodes shows calls of tools in a large window beside a whole page of
// sessions.
func TestFewNodes(t *testing.T) {
	s := newSample(t)
	s.create(finished, map[string]any{"name": "calls", "status": "completed"})
	for i := range 120 {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
		s.add(finished, s.said("user", "?"), s.called(a, "shell", map[string]any{"command": "ls"}), s.result(a, "x"), s.called(b, "shell", map[string]any{"command": "ls"}), s.result(b, "x"))
	}
	for i := range 120 {
		s.create(fmt.Sprintf("5f0c9a61-2d0b-4f53-8a55-6b0a10f7e%03d", i), map[string]any{"name": fmt.Sprint("session ", i), "status": "completed", "turn_count": 1})
	}
	p := browse(t)
	at := serve(t, s.dir)
	for _, size := range [][2]int64{{1440, 860}, {1920, 1200}, {390, 800}} {
		p.size(size[0], size[1])
		p.open(at+address(finished)+"#transcript", "document.querySelector('#live.on') && document.querySelectorAll('.call').length > 5")
		for _, place := range []string{"0", "0.5", "1"} {
			p.do(evaluate("document.querySelector('#messages').scrollTop = document.querySelector('#messages').scrollHeight * " + place))
			p.until("[...document.querySelectorAll('.chunk')].every((c) => c.childElementCount)")
			nodes := eval[int](p, "document.querySelectorAll('*').length")
			t.Logf("%v at %s: %d nodes, %d messages", size, place, nodes, eval[int](p, "document.querySelectorAll('.message').length"))
			require.Less(t, nodes, 2000)
		}
	}
}
