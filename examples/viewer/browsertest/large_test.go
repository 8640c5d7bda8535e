package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// sizes of the data: what the issue asks for with -large, else a tenth.
func sizes() (prompt, events int) {
	if *large {
		return 1 << 20, 300 << 20
	}
	return 100 << 10, 30 << 20
}

// TestLarge opens a session of which all is large, in the program itself, and
// tells how long it took and what memory the program used.
func TestLarge(t *testing.T) {
	s := newSample(t)
	prompt, events := sizes()
	s.create(long, map[string]any{"name": "large", "manifest_name": "Research", "status": "in_progress"})
	s.largePhases(prompt)
	s.largeEvents(events)
	s.largeTranscript()
	at, pid := start(t, s.dir)
	p := browse(t)
	asked := p.requests()
	took := func(what string, act func()) {
		t.Helper()
		began := time.Now()
		act()
		t.Logf("%-28s %6d ms, program %s", what, time.Since(began).Milliseconds(), memory(t, pid))
	}
	took("500 cards, cold", func() { p.open(at+address(long)+"#phases", cards+" === 500") })
	took("500 cards, again", func() { p.open(at+address(long)+"#phases", cards+" === 500") })
	require.Zero(t, asked.records())
	require.Less(t, eval[float64](p, "document.documentElement.outerHTML.length"), float64(1<<20))
	took("a prompt", func() {
		p.click(".prompt-view-card:nth-child(3) button")
		p.until(fmt.Sprintf("document.querySelector('.system-prompt pre')?.textContent.length === %d", prompt))
	})
	p.shot("large-cards")
	took("transcript", func() { p.click("#tab-transcript"); p.until("document.querySelectorAll('.message').length > 10") })
	took("its end", func() {
		p.click("#to-end")
		p.until("document.querySelector('[data-n=\"9999\"]')?.getBoundingClientRect().bottom <= innerHeight")
	})
	for _, turn := range []int{2500, 1, 4000} {
		took(fmt.Sprintf("turn %d", turn), func() {
			p.do(evaluate(fmt.Sprintf("(() => { const i = document.querySelector('#turn'); i.value = %d; i.dispatchEvent(new Event('change')); })()", turn)))
			p.until(fmt.Sprintf("[...document.querySelectorAll('.turn-mark')].some((m) => m.textContent === 'Turn %d' && Math.abs(m.getBoundingClientRect().top - document.querySelector('#messages').getBoundingClientRect().top) < 40)", turn))
		})
	}
	require.Less(t, asked.of("/messages"), 40, "only what is in sight is asked for")
	took("scroll through it", func() {
		p.do(evaluate("(() => { const b = document.querySelector('#messages'); b.scrollTop = 0; window.scrolled = new Promise(async (done) => { for (let i = 1; i <= 100; i++) { b.scrollTop = b.scrollHeight * i / 100; await new Promise(requestAnimationFrame); } done(); }).then(() => window.scrolledTo = true); })()"))
		p.until("window.scrolledTo && document.querySelector('[data-n=\"9999\"]')")
	})
	require.Less(t, eval[int](p, "document.querySelectorAll('.message').length"), 200)
	p.shot("large-transcript")

	took("events", func() { p.click("#tab-events"); p.until("document.querySelectorAll('.event .name').length > 10") })
	took("all of them counted", func() { p.until("/^\\d+ events$/.test(document.querySelector('#event-count').textContent)") })
	took("the last event", func() {
		p.click("#event-end")
		p.until("[...document.querySelectorAll('.event .name')].at(-1)?.textContent === 'session:end'")
	})
	took("an event of 8 MB", func() {
		p.do(evaluate("(() => { const n = document.querySelector('#event-name'); n.value = 'llm:response:raw'; n.dispatchEvent(new Event('input', {bubbles: true})); })()"))
		p.until("/^[1-9]\\d* events?$/.test(document.querySelector('#event-count').textContent) && document.querySelector('.event .name') && [...document.querySelectorAll('.event .name')].every((n) => n.textContent === 'llm:response:raw')")
		p.click(".event")
		p.until("document.querySelector('.viewer pre')?.textContent.length > 200000")
	})
	require.Contains(t, p.text(".viewer header"), "the first 262 KB of 8.")
	p.shot("large-event")
	took("resume", func() { p.click("#resume"); p.until("!document.querySelector('#resumed').hidden") })
	require.Equal(t, 50, eval[int](p, "document.querySelectorAll('#resumed li').length"))
	t.Logf("browser page: %.0f MB of JavaScript", eval[float64](p, "performance.memory.usedJSHeapSize")/1e6)
}

// lines makes a file of a session line by line.
func (s *sample) lines(id, name string, write func(line func(v any))) {
	f, err := os.Create(s.path(id, name))
	require.NoError(s.t, err)
	out := bufio.NewWriterSize(f, 1<<20)
	enc := json.NewEncoder(out)
	write(func(v any) { require.NoError(s.t, enc.Encode(v)) })
	require.NoError(s.t, out.Flush())
	require.NoError(s.t, f.Close())
}

func (s *sample) largePhases(size int) {
	prompt := strings.Repeat("Be careful. ", size/12+1)[:size]
	s.lines(long, "phase_outputs.jsonl", func(line func(any)) {
		for i := range 500 {
			row := map[string]any{"id": i + 1, "session_id": long, "phase_id": "plan", "phase_name": fmt.Sprintf("Phase %d", i+1), "status": "running", "system_prompt": prompt, "user_input": fmt.Sprintf("input %d", i), "output": nil, "error": nil, "created_at": fmt.Sprintf("2026-03-01T10:%02d:%02d.000Z", i/60, i%60), "updated_at": "2026-03-01T12:00:00.000Z"}
			if i < 499 { // the last completed phase is one of the manifest
				row["phase_id"] = fmt.Sprintf("phase-%d", i)
			}
			line(row)
			row["status"], row["system_prompt"], row["user_input"], row["output"] = "completed", nil, nil, strings.Repeat(fmt.Sprintf("Output %d. ", i), 20)
			line(row)
		}
	})
}

func (s *sample) largeEvents(size int) {
	small, huge := strings.Repeat("x", 700), strings.Repeat("y", 8<<20)
	s.lines(long, "events.jsonl", func(line func(any)) {
		total := 0
		for i := 0; total < size; i++ {
			name, text := []string{"tool:pre", "tool:post", "llm:request"}[i%3], small
			if i%5000 == 4999 {
				name, text = "llm:response:raw", huge
			}
			line(map[string]any{"ts": "2026-03-01T10:00:00.000Z", "lvl": "INFO", "event": name, "session_id": long, "data": map[string]any{"n": i, "text": text}})
			total += len(text) + 120
		}
		line(map[string]any{"ts": "2026-03-01T10:00:00.000Z", "lvl": "INFO", "event": "llm:response:raw", "data": map[string]any{"text": huge}})
		line(map[string]any{"ts": "2026-03-01T11:00:00.000Z", "lvl": "INFO", "event": "session:end"})
	})
}

// largeTranscript has 10,000 messages in 5,000 turns.
func (s *sample) largeTranscript() {
	var msgs []sessionstore.Message
	for i := range 5000 {
		msgs = append(msgs, s.said("user", fmt.Sprintf("Question %d: %s", i+1, strings.Repeat("why? ", i%40))), s.said("assistant", fmt.Sprintf("Answer %d. %s", i+1, strings.Repeat("Because it is so.\n", i%30))))
	}
	s.add(long, msgs...)
}

// start starts the viewer as a program and returns its address and process.
func start(t *testing.T, dir string) (url string, pid int) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "viewer")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, // it is told to stop
		"-dir", dir, "-manifest", "Research=plan,gather")
	cmd.Stderr = os.Stderr
	printed, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		_, _ = io.Copy(io.Discard, printed)
		require.NoError(t, cmd.Wait())
	})
	line, err := bufio.NewReader(printed).ReadString('\n')
	require.NoError(t, err)
	return remember(strings.TrimSpace(line)), cmd.Process.Pid
}

// memory tells how much memory a process uses, and used at most.
func memory(t *testing.T, pid int) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	testenv.Need(t, err == nil, "no /proc")
	found := regexp.MustCompile(`Vm(HWM|RSS):\s+(\d+) kB`).FindAllStringSubmatch(string(data), -1)
	require.Len(t, found, 2)
	return fmt.Sprintf("%s kB, at most %s kB", found[1][2], found[0][2])
}
