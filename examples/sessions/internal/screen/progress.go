package screen

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// When a bar appears, and how often it is drawn.
const (
	barAfter = 300 * time.Millisecond
	barEvery = 100 * time.Millisecond
	barWidth = 24
)

// Progress is the progress of long work. It is shown on standard error where that is a
// terminal, once the work takes longer than barAfter.
type Progress struct {
	screen *Screen
	what   string
	done   atomic.Int64
	total  atomic.Int64 // 0: not known
	next   atomic.Int64 // when it is drawn next, in nanoseconds
}

// Progress begins to show the progress of total steps; 0: the number is not known. The
// caller must call Done.
func (s *Screen) Progress(what string, total int) *Progress {
	p := &Progress{screen: s, what: what}
	p.total.Store(int64(total))
	p.next.Store(time.Now().Add(barAfter).UnixNano())
	return p
}

// Step adds n to the steps that are done.
func (p *Progress) Step(n int) {
	p.done.Add(int64(n))
	p.draw()
}

// At sets the number of steps that are done, and their total.
func (p *Progress) At(done, total int) {
	p.done.Store(int64(done))
	p.total.Store(int64(total))
	p.draw()
}

// draw shows the progress, unless it was drawn less than barEvery ago.
func (p *Progress) draw() {
	if !p.screen.errTTY {
		return
	}
	now, next := time.Now(), p.next.Load()
	if now.UnixNano() < next || !p.next.CompareAndSwap(next, now.Add(barEvery).UnixNano()) {
		return
	}
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	p.screen.line = true
	fmt.Fprint(p.screen.err, "\r\x1b[K"+Fit(bar(p.what, int(p.done.Load()), int(p.total.Load())), p.screen.errors-1))
}

// Done ends the progress and wipes it off.
func (p *Progress) Done() {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	p.screen.wipe()
}

// wipe removes the line of progress.
func (s *Screen) wipe() {
	if s.line {
		fmt.Fprint(s.err, "\r\x1b[K")
		s.line = false
	}
}

func bar(what string, done, total int) string {
	if total <= 0 {
		return fmt.Sprintf("%s %d", what, done)
	}
	done = min(done, total)
	full := barWidth * done / total
	return fmt.Sprintf("%s %s%s %d/%d", what, strings.Repeat("━", full), strings.Repeat("─", barWidth-full), done, total)
}
