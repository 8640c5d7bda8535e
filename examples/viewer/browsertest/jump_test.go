package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// helpers are functions for scripts: settled waits until every message that is near the
// window is in the page, and stays so for some pictures, and gives up after many; miss
// returns how far a node is from the top of the window, "" where it is there.
const helpers = `
	const box = document.querySelector('#messages');
	const picture = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
	const settled = async (also = () => true) => {
		for (let quiet = 0, all = 0; quiet < 5 && all < 1000; quiet++, all++) {
			await picture();
			const chunks = [...box.querySelectorAll('.chunk')];
			if (!chunks.length || !chunks.every((c) => c.childElementCount) || !also()) quiet = 0;
		}
	};
	const mark = (turn) => [...document.querySelectorAll('.turn-mark')].find((m) => m.firstChild.textContent === 'Turn ' + turn);
	const off = (node) => node.getBoundingClientRect().top - box.getBoundingClientRect().top;
	const miss = (what, node) => !node ? what + ' is not there; ' : Math.abs(off(node)) > 2 && box.scrollHeight - box.scrollTop - box.clientHeight > 2 ? what + ' by ' + Math.round(off(node)) + ' px; ' : '';
`

// jumps goes to sixty turns, each from one end of the transcript, and returns the misses.
const jumps = `(async (end) => {` + helpers + `
	let misses = '';
	for (let i = 0; i < 60; i++) {
		const turn = 1 + (i * 977 + 13) % 2500;
		document.querySelector(end ? '#to-end' : '#to-top').click();
		await settled(() => box.querySelector('[data-n="' + (end ? 4999 : 0) + '"]'));
		const field = document.querySelector('#turn');
		field.value = turn;
		field.dispatchEvent(new Event('change'));
		await settled(() => mark(turn));
		misses += miss('turn ' + turn, mark(turn));
	}
	return misses;
})`

// finds goes through sixty hits of a search, and returns the misses.
const finds = `(async () => {` + helpers + `
	let misses = '';
	document.querySelector('#find').value = 'Question';
	for (let i = 0; i < 60; i++) {
		document.querySelector('#find-next').click();
		const said = (i + 1) + ' of ';
		await settled(() => document.querySelector('#find-count').textContent.startsWith(said) && box.querySelector('.found')?.dataset.n === String(2 * i));
		misses += miss('hit ' + i, box.querySelector('.found')?.previousElementSibling);
	}
	return misses;
})`

// TestJumps goes to turns of a session of 5,000 messages, from its beginning and from its
// end, and to what a search finds: each lands at the top of the window.
func TestJumps(t *testing.T) {
	testenv.Soak(t, "one test shows that pages work in a browser: TestSearch")
	s := newSample(t)
	s.turns(long, 2500)
	at := serve(t, s.dir)
	path := address(long) + "#transcript"
	for browser, start := range map[string]func(t *testing.T) (run func(script string) string){
		"chromium": func(t *testing.T) func(string) string {
			p := browse(t)
			p.open(at+path, "document.querySelector('.message')")
			return p.await
		},
		"firefox": func(t *testing.T) func(string) string {
			f := browseFirefox(t)
			f.open(at, path)
			return f.run
		},
	} {
		t.Run(browser, func(t *testing.T) {
			run := start(t)
			for _, end := range []bool{false, true} {
				require.Empty(t, run(fmt.Sprintf("%s(%t)", jumps, end)), "from the end: %t", end)
			}
			require.Empty(t, run(finds+"()"))
		})
	}
}

// await returns the text that a promise gives. It has no limit but the test's.
func (p *page) await(script string) (text string) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Run(p.ctx, chromedp.Evaluate(script, &text, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) })))
	return text
}
