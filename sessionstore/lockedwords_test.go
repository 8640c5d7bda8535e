package sessionstore

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
)

// TestBusyIsSaidOnce has the lock of a holder that is not known.
func TestBusyIsSaidOnce(t *testing.T) {
	t.Parallel()
	for _, err := range []error{ownership.ErrBusy, &ownership.BusyError{}} {
		got := ownershipError(err)
		require.ErrorIs(t, got, ErrLocked)
		require.EqualError(t, got, "session is locked: another program runs it")
	}
}
