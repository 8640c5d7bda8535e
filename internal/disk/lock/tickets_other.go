//go:build !linux

package lock

import (
	"errors"
	"os"
)

// supported reports whether the system has locks of an open file description. The code
// below is not reached on systems without them.
const supported = false

type tickets struct{}

func newTickets(file *os.File) (*tickets, error) {
	return nil, errors.Join(errors.ErrUnsupported, file.Close())
}

func (t *tickets) close() error { return nil }

func (t *tickets) isAt(string) bool { return false }

func (t *tickets) find(int64, int64) (int64, bool, error) { return 0, false, errors.ErrUnsupported }

func (t *tickets) lowest(int64, int64) (int64, bool, error) {
	return 0, false, errors.ErrUnsupported
}

func (t *tickets) take(int64) (bool, error) { return false, errors.ErrUnsupported }

func (t *tickets) drop(int64) {}
