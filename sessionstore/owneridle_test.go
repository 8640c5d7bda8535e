//go:build unix

package sessionstore

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program that writes many sessions in a row keeps the ownership locks of a
// few, and soon of none.
func TestIdleLocksAreBounded(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed, Workspace: t.TempDir()})
	require.NoError(t, err)
	row := newMessage([]byte(`{"role": "user", "content": "hi"}`))
	count := func() (locks, idle int, running bool) {
		st.owners.mu.Lock()
		defer st.owners.mu.Unlock()
		return len(st.owners.locks), len(st.owners.idle), st.owners.running
	}
	for i := range 5 * idleLocks {
		require.NoError(t, st.Append(t.Context(), fmt.Sprint("s", i), row))
		locks, idle, running := count()
		require.LessOrEqual(t, locks, idleLocks+1)
		require.LessOrEqual(t, idle, idleLocks+1)
		require.Equal(t, idle > 0, running)
	}
	require.Eventually(t, func() bool {
		locks, idle, running := count()
		return locks == 0 && idle == 0 && !running
	}, time.Minute, time.Millisecond)
	require.NoError(t, st.Append(t.Context(), "s0", row))
	release, err := st.Acquire(t.Context(), "s1", Owner{})
	require.NoError(t, err)
	require.NoError(t, st.Close())
	locks, _, _ := count()
	require.Zero(t, locks, "Close gives up all of them")
	require.NoError(t, release(), "late, and nothing is left to give back")
}

// A burst of calls takes the lock once.
func TestBurstTakesTheLockOnce(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed, Workspace: t.TempDir()})
	require.NoError(t, err)
	defer st.Close()
	row := newMessage([]byte(`{"role": "user", "content": "hi"}`))
	require.NoError(t, st.Append(t.Context(), "s", row))
	l, err := st.owners.enter(t.Context(), "s")
	require.NoError(t, err)
	held := l.held
	require.NotNil(t, held)
	st.owners.ref(l) // so that a slow machine does not give it up
	st.owners.leave(l)
	for range 5 {
		require.NoError(t, st.Append(t.Context(), "s", row))
		require.Same(t, held, l.held)
	}
	require.NoError(t, st.owners.unrefLast(l))
	require.Nil(t, l.held)
}
