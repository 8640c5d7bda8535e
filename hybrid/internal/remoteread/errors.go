package remoteread

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
)

// What callers branch on, with [errors.Is].
var (
	// ErrDamaged tells that something in the cloud is missing or not what its hash
	// says. Package hybrid documents it.
	ErrDamaged = errors.New("copy in the cloud is damaged")
	// ErrOlder tells that the account answered with an older head than one that it
	// gave before. It Is [ErrLost] too.
	ErrOlder = fmt.Errorf("%w: a replica is behind", ErrLost)
	// ErrHead tells that a session has a head, but none that can be followed.
	ErrHead = errors.New("the session's head in the cloud cannot be read")
)

// Damaged makes an [ErrDamaged] of an error that tells of damaged or missing
// documents, and returns every other error as it is.
func Damaged(err error) error {
	if errors.Is(err, segment.ErrDamaged) || errors.Is(err, segment.ErrGap) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// unreadable tells why a head cannot be read.
func unreadable(err error) error {
	if errors.Is(err, segment.ErrFormat) || errors.Is(err, segment.ErrForeign) {
		return fmt.Errorf("%w: %w", ErrHead, err)
	}
	return fmt.Errorf("%w: %w: %w", ErrHead, ErrDamaged, err)
}
