// Package jitter draws random waits and names, and waits. A source with a seed
// draws the same each time, so that a test can repeat a run.
package jitter

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"sync"
	"time"
)

// The bounds of [Source.Backoff].
const (
	FirstBackoff = 500 * time.Millisecond
	LastBackoff  = 5 * time.Minute
)

// Source draws waits and names. A nil Source draws from the system. Its methods
// may be called by several goroutines.
type Source struct {
	mu     sync.Mutex // guards source
	source *rand.ChaCha8
}

// New returns a source that draws the same for the same seed.
func New(seed [32]byte) *Source { return &Source{source: rand.NewChaCha8(seed)} }

// Wait returns a time above 0 and up to bound.
func (s *Source) Wait(bound time.Duration) time.Duration {
	if s == nil {
		return 1 + rand.N(bound)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return 1 + time.Duration(s.source.Uint64()%uint64(bound))
}

// Backoff returns how long to wait after a number of failures in a row: a random
// time below a bound that doubles with each failure.
func (s *Source) Backoff(failures int) time.Duration {
	bound := LastBackoff
	if failures < 10 {
		bound = min(bound, FirstBackoff<<(failures-1))
	}
	return s.Wait(bound)
}

// Name returns n random bytes in hexadecimal.
func (s *Source) Name(n int) string {
	b := make([]byte, n)
	if s == nil {
		crand.Read(b) // never fails
		return hex.EncodeToString(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.source.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Pause waits until a time has passed, unless it is 0, or until ready is closed, unless
// it is nil. It returns the error of ctx when ctx ends first.
func Pause(ctx context.Context, wait time.Duration, ready <-chan struct{}) error {
	var over <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-over:
		return nil
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
