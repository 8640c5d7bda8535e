package hybrid

import (
	crand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"sync"
	"time"
)

// chance is what is left to chance: the names of changes, and how long a
// failure makes wait. A nil one draws from the system. The methods may be
// called by several goroutines.
type chance struct {
	mu     sync.Mutex // guards source
	source *rand.ChaCha8
}

// newChance returns one that draws the same for the same seed, for tests.
func newChance(seed [32]byte) *chance { return &chance{source: rand.NewChaCha8(seed)} }

// wait returns a time of at most bound that is not 0.
func (c *chance) wait(bound time.Duration) time.Duration {
	if c == nil {
		return 1 + rand.N(bound)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return 1 + time.Duration(c.source.Uint64()%uint64(bound))
}

// backoff is full jitter: a random time below a bound that doubles.
func (c *chance) backoff(failures int) time.Duration {
	bound := lastBackoff
	if failures < 10 {
		bound = min(bound, firstBackoff<<(failures-1))
	}
	return c.wait(bound)
}

// name returns n random bytes in hexadecimal.
func (c *chance) name(n int) string {
	b := make([]byte, n)
	if c == nil {
		crand.Read(b) // never fails
		return hex.EncodeToString(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.source.Read(b) // never fails
	return hex.EncodeToString(b)
}
