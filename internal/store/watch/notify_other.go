//go:build !linux

package watch

import "errors"

// Notifier receives changes in directories from the system. There is none on this system.
type Notifier struct{}

// NewNotifier fails with [errors.ErrUnsupported].
func NewNotifier() (*Notifier, error) { return nil, errors.ErrUnsupported }

// Add fails with [errors.ErrUnsupported].
func (*Notifier) Add(string) error { return errors.ErrUnsupported }

// Remove does nothing.
func (*Notifier) Remove(string) {}

// Events returns nil: there are no events.
func (*Notifier) Events() <-chan Event { return nil }

// Close does nothing.
func (*Notifier) Close() error { return nil }
