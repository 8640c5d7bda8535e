package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// screen shows the story: lines of text, and on a terminal a progress bar below them.
type screen struct {
	out     io.Writer
	columns func() int // of the terminal; nil: it is none

	mu    sync.Mutex // guards the fields below
	err   error      // the first of out
	label string     // of the bar; empty: there is none
	done  int64      // bytes
	total int64      // that are expected
	shown string
}

func (s *screen) print(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(text)
}

func (s *screen) printf(format string, args ...any) { s.print(fmt.Sprintf(format, args...)) }

func (s *screen) write(text string) {
	if _, err := io.WriteString(s.out, text); s.err == nil {
		s.err = err
	}
}

// worthwhile is the least number of bytes with a bar: less is sent in an instant.
const worthwhile = 256 << 10

// begin shows a bar for a transfer of about total bytes, until end is called.
func (s *screen) begin(label string, total int64) (end func()) {
	if s.columns == nil || total < worthwhile {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.label, s.done, s.total = label, 0, total
	s.draw()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.label, s.shown = "", ""
		s.write("\r\x1b[K")
	}
}

// moved takes note of bytes that were sent or fetched.
func (s *screen) moved(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done += n; s.label != "" {
		s.draw()
	}
}

// draw shows the bar if it has changed.
func (s *screen) draw() {
	line := bar(s.label, s.done, s.total, s.columns())
	if line != s.shown {
		s.shown = line
		s.write("\r\x1b[K" + line)
	}
}

// widest is the greatest number of cells in a bar.
const widest = 30

// bar returns a line of less than columns columns: label, the share of total that is done,
// and a bar if there is room for it.
func bar(label string, done, total int64, columns int) string {
	share := 1.0
	if total > 0 {
		share = min(1, float64(done)/float64(total))
	}
	text := fmt.Sprintf("%3.0f %%  %s of %s", 100*share, size(min(done, total)), size(total))
	indent := strings.Repeat(" ", 3)
	room := columns - len(indent) - len(label) - len(text) - 6
	if room < 5 {
		line := indent + label + " " + text
		return line[:max(0, min(len(line), columns-1))]
	}
	cells := min(room, widest)
	full := int(share * float64(cells))
	return indent + label + "  " + strings.Repeat("█", full) + strings.Repeat("░", cells-full) + "  " + text
}

// size returns a number of bytes for people.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1000_000:
		return fmt.Sprintf("%.1f KB", float64(bytes)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1000_000)
}

// meter adds the bytes of requests and answers to the bar. It is a policy of the client.
type meter struct{ *screen }

// Do passes a request on.
func (m meter) Do(r *policy.Request) (*http.Response, error) {
	answer, err := r.Next()
	if err == nil {
		m.moved(max(0, r.Raw().ContentLength) + max(0, answer.ContentLength))
	}
	return answer, err
}
