package browsertest

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
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

// openLong opens the long transcript, once to have it indexed, and goes to a
// turn. Of the transcript the program reads only what is shown.
func (s *sample) openLong(p *page, at string, pid int, took func(string, func())) {
	s.longTranscript()
	size := fileSize(s, s.path(padded, "transcript.jsonl"))
	shows := func(turn int) string {
		return "document.querySelector('#live.on') && document.querySelector('[data-n=\"" + fmt.Sprint(2*turn-2) + "\"]')?.textContent.includes('Question " + fmt.Sprint(turn) + "?')"
	}
	took(fmt.Sprintf("%d MB, for the first time", size>>20), func() { p.open(at+address(padded)+"#transcript", shows(5000)) })
	p.open(at+"/p/"+project, "document.querySelectorAll('.session').length > 1")
	before := bytesRead(s, pid)
	took("again", func() { p.open(at+address(padded)+"#transcript", shows(5000)) })
	took("its turn 2500", func() {
		p.do(evaluate("(() => { const i = document.querySelector('#turn'); i.value = 2500; i.dispatchEvent(new Event('change')); })()"))
		p.until(shows(2500) + " && " + atTop(2500))
	})
	read := bytesRead(s, pid) - before
	s.t.Logf("%d KB of %d KB read, %d nodes", read>>10, size>>10, eval[int](p, "document.querySelectorAll('*').length"))
	shown := size / 10_000 * 200 // some 200 messages, with what is beside them
	require.Less(s.t, read, shown+4<<20)
	require.Less(s.t, eval[int](p, "document.querySelectorAll('*').length"), 2000)
	p.shot("long-transcript")
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
