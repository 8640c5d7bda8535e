package writertest

import (
	"math/rand/v2"
	"sync"
	"time"
)

// A Pauser pauses for random times, which its seed fixes. Several goroutines
// may share one.
type Pauser struct {
	mu sync.Mutex // guards r
	r  *rand.Rand
}

// NewPauser returns the pauser of one writer or reader; stream distinguishes the pausers of
// one seed.
func NewPauser(seed, stream uint64) *Pauser {
	return &Pauser{r: rand.New(rand.NewPCG(seed, stream))}
}

// Pause pauses as at a step of a slow program: mostly not at all, often for up
// to 2 ms, and now and then for up to 20 ms.
func (p *Pauser) Pause() {
	p.mu.Lock()
	var most time.Duration
	switch n := p.r.IntN(20); {
	case n < 1:
		most = 20 * time.Millisecond
	case n < 6:
		most = 2 * time.Millisecond
	}
	d := p.below(most)
	p.mu.Unlock()
	if d > 0 {
		time.Sleep(d)
	}
}

// Rest pauses for less than most, as between two calls.
func (p *Pauser) Rest(most time.Duration) {
	p.mu.Lock()
	d := p.below(most)
	p.mu.Unlock()
	time.Sleep(d)
}

// IntN returns a random number below n.
func (p *Pauser) IntN(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.r.IntN(n)
}

// below returns a random time below most. The caller holds mu.
func (p *Pauser) below(most time.Duration) time.Duration {
	if most == 0 {
		return 0
	}
	return time.Duration(p.r.Int64N(int64(most)))
}
