//go:build !linux

package testenv

import (
	"testing"
	"time"
)

// Work runs f and returns how long that took.
func Work(_ testing.TB, f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}
