package vfs

import (
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// failing returns an open that fails with each of errs in turn and then
// returns 7, and how often it was called.
func failing(errs ...error) (open func() (int, error), calls *int) {
	calls = new(int)
	return func() (int, error) {
		if *calls++; *calls <= len(errs) {
			return -1, errs[*calls-1]
		}
		return 7, nil
	}, calls
}

func TestOpenWaits(t *testing.T) {
	t.Parallel()
	again := error(&fs.PathError{Op: "openat", Path: "f", Err: syscall.EAGAIN})
	tests := []struct {
		name   string
		errs   []error
		waited time.Duration
	}{
		{"no lease", nil, 0},
		{"a lease", []error{again}, 100 * time.Microsecond},
		{"a longer lease", []error{again, again, again}, 700 * time.Microsecond},
		{"a long lease", []error{again, again, again, again, again, again, again, again}, 16300 * time.Microsecond},
		{"a signal", []error{syscall.EINTR, syscall.EINTR}, 0},
		{"a signal and a lease", []error{again, syscall.EINTR, again}, 300 * time.Microsecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				open, calls := failing(tt.errs...)
				start := time.Now()
				got, err := openLeased(open)
				require.NoError(t, err)
				require.Equal(t, 7, got)
				require.Equal(t, len(tt.errs)+1, *calls)
				require.Equal(t, tt.waited, time.Since(start))
			})
		})
	}
}

func TestOpenFailsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, calls := failing(fs.ErrNotExist)
		start := time.Now()
		_, err := openLeased(open)
		require.Equal(t, fs.ErrNotExist, err)
		require.Equal(t, 1, *calls)
		require.Zero(t, time.Since(start))
	})
}

// TestOpenGivesUp: the kernel takes a lease away after 45 seconds, so that
// what lasts longer is none.
func TestOpenGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := openLeased(func() (int, error) { return 0, syscall.EAGAIN })
		require.ErrorIs(t, err, syscall.EAGAIN)
		require.ErrorContains(t, err, "wait 50s for another program to give up its lease on the file")
		require.InDelta(t, 50, time.Since(start).Seconds(), 0.01)
	})
}
