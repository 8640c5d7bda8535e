//go:build !linux

package testenv

import "time"

// Work runs f and returns how long that took.
func Work(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}
