//go:build !linux

package notify

import "errors"

// Watcher hears of changes in directories. There is none on this system.
type Watcher struct{}

// New fails with [errors.ErrUnsupported].
func New() (*Watcher, error) { return nil, errors.ErrUnsupported }

// Add fails with [errors.ErrUnsupported].
func (*Watcher) Add(string) error { return errors.ErrUnsupported }

// Remove does nothing.
func (*Watcher) Remove(string) {}

// Events never tells anything.
func (*Watcher) Events() <-chan Event { return nil }

// Close does nothing.
func (*Watcher) Close() error { return nil }
