package browsertest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// padded is a session with a transcript of which parts are read: 1 GB with
// -large, else some megabytes.
const padded = "5f0c9a61-2d0b-4f53-8a55-6b0a10f7c008"

// longTranscript writes 10,000 messages in 5,000 turns. Most of their bytes are
// not shown.
func (s *sample) longTranscript() {
	padding := strings.Repeat("x", 600)
	if *large {
		padding = strings.Repeat("x", 100<<10)
	}
	s.create(padded, map[string]any{"name": "long"})
	s.lines(padded, "transcript.jsonl", func(line func(any)) {
		for i := range 5000 {
			line(map[string]any{"role": "user", "content": fmt.Sprintf("Question %d?", i+1), "metadata": map[string]any{"padding": padding}})
			line(map[string]any{"role": "assistant", "content": fmt.Sprintf("Answer %d.\n\n- one\n- two", i+1), "metadata": map[string]any{"padding": padding}})
		}
	})
}

// TestLongTranscript opens a long transcript in the program itself, once to have it
// indexed, and goes to turns. Of the transcript the program reads only what is shown.
// It tells how long that took: of several times the median.
func TestLongTranscript(t *testing.T) {
	s := newSample(t)
	s.longTranscript()
	size := fileSize(s, s.path(padded, "transcript.jsonl"))
	at, pid := start(t, s.dir)
	p := browse(t)
	shows := func(turn int) string {
		return "document.querySelector('[data-n=\"" + fmt.Sprint(2*turn-2) + "\"]')?.textContent.includes('Question " + fmt.Sprint(turn) + "?')"
	}
	open := func() { p.open(at+address(padded)+"#transcript", shows(5000)) }
	took := func(what string, acts ...func()) {
		t.Helper()
		var all []time.Duration
		for _, act := range acts {
			began := time.Now()
			act()
			all = append(all, time.Since(began))
		}
		slices.Sort(all)
		t.Logf("%-32s %6d ms, program %s", what, all[len(all)/2].Milliseconds(), memory(t, pid))
	}
	took(fmt.Sprintf("%d MB, for the first time", size>>20), open)
	before := bytesRead(s, pid)
	open()
	jump := func(turn int) func() {
		return func() {
			p.do(evaluate(fmt.Sprintf("(() => { const i = document.querySelector('#turn'); i.value = %d; i.dispatchEvent(new Event('change')); })()", turn)))
			p.until(shows(turn) + " && " + atTop(turn))
		}
	}
	jump(2500)()
	p.until("document.querySelector('#live.on') && [...document.querySelectorAll('.chunk')].every((c) => c.childElementCount)")
	read := bytesRead(s, pid) - before
	t.Logf("%d KB of %d KB read", read>>10, size>>10)
	require.Less(t, read, size/10_000*200+4<<20, "some 200 messages")
	require.Less(t, eval[int](p, "document.querySelectorAll('*').length"), 2000)
	p.shot("long-transcript")
	took("again", slices.Repeat([]func(){open}, 7)...)
	took("a turn", jump(100), jump(4800), jump(1300), jump(3900), jump(2), jump(700), jump(2600))
	t.Logf("browser page: %.1f MB of JavaScript, %d nodes", eval[float64](p, "performance.memory.usedJSHeapSize")/1e6, eval[int](p, "document.querySelectorAll('*').length"))
}

func fileSize(s *sample, path string) int64 {
	s.t.Helper()
	fi, err := os.Stat(path)
	require.NoError(s.t, err)
	return fi.Size()
}

// bytesRead returns how many bytes a process has read, from files and others.
func bytesRead(s *sample, pid int) int64 {
	s.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	testenv.Need(s.t, err == nil, "no /proc")
	found := regexp.MustCompile(`rchar: (\d+)`).FindSubmatch(data)
	require.Len(s.t, found, 2)
	n, err := strconv.ParseInt(string(found[1]), 10, 64)
	require.NoError(s.t, err)
	return n
}
