package jitter

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSource(t *testing.T) {
	t.Parallel()
	a, b, c := New([32]byte{1}), New([32]byte{1}), New([32]byte{2})
	require.Equal(t, a.Name(8), b.Name(8))
	require.NotEqual(t, a.Name(8), c.Name(8))
	require.Len(t, (*Source)(nil).Name(6), 12)
	for _, s := range []*Source{a, nil} {
		for failures := 1; failures < 40; failures++ {
			wait := s.Backoff(failures)
			require.Positive(t, wait)
			require.LessOrEqual(t, wait, LastBackoff)
			if failures == 1 {
				require.LessOrEqual(t, wait, FirstBackoff)
			}
		}
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.NoError(t, Pause(t.Context(), time.Minute, nil))
		require.Equal(t, time.Minute, time.Since(start))
		ready := make(chan struct{})
		close(ready)
		require.NoError(t, Pause(t.Context(), 0, ready))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, Pause(ctx, 0, nil), context.DeadlineExceeded)
		require.Equal(t, time.Minute+time.Second, time.Since(start))
	})
}
