package vfs

import (
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// refusing returns a call that fails with err so many times, and how often it was
// called.
func refusing(times int, err error) (do func() error, calls *int) {
	calls = new(int)
	return func() error {
		if *calls++; *calls <= times {
			return err
		}
		return nil
	}, calls
}

func TestWait(t *testing.T) {
	t.Parallel()
	busy := error(&fs.PathError{Op: "rename", Path: "f", Err: ErrInUse})
	other := errors.New("the disk is full")
	tests := []struct {
		name   string
		times  int
		err    error
		waited time.Duration
		want   error
	}{
		{"at once", 0, busy, 0, nil},
		{"one open", 1, busy, time.Millisecond, nil},
		{"some opens", 6, busy, 51 * time.Millisecond, nil},
		{"for ever", 1 << 30, busy, SharingLimit, ErrInUse},
		{"another error", 1, other, 0, other},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				do, calls := refusing(tt.times, tt.err)
				require.ErrorIs(t, WhenFree(do), tt.want)
				require.Equal(t, tt.waited, time.Since(start))
				start = time.Now()
				do, again := refusing(tt.times, tt.err)
				_, err := openShared(func() (int, error) { return 7, do() })
				require.ErrorIs(t, err, tt.want)
				require.Equal(t, tt.waited, time.Since(start))
				require.Equal(t, *calls, *again)
			})
		})
	}
}
