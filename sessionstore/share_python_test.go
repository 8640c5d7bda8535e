//go:build unix

package sessionstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/testenv"
	"github.com/amplifier-go/sessionstorage/internal/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestPythonHostGetsTheSession has a host that does not wait take the session
// a short time after a write of a store that stays open.
func TestPythonHostGetsTheSession(t *testing.T) {
	h := newHouse(t)
	st := open(t, h.dir, nil)
	require.NoError(t, st.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
	require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("2"))...))
	host := writertest.StartPython(t, testenv.Python(t), writertest.HostScript, 1).In(h.state(ownedID))
	got, stalled := 0, 0
	for got+stalled < 5 || got == 0 {
		require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("3"))...))
		wrote := time.Now()
		timely := wakesBy(wrote.Add(200*time.Millisecond), wrote.Add(270*time.Millisecond))
		time.Sleep(300 * time.Millisecond)
		held, err := host.Take(h.workspace, ownedID)
		require.NoError(t, err)
		if !held {
			// The store gives the session up 200 ms after its last write. It is
			// excused only where a goroutine that waits for that moment alone was
			// late too: then the machine had no time for this process.
			require.False(t, <-timely && testenv.Long(), "the host did not get the session")
			stalled++
			continue
		}
		<-timely
		got++
		began := time.Now()
		err = st.Append(t.Context(), ownedID, parse(t, user("4"))...)
		require.ErrorIs(t, err, sessionstore.ErrLocked)
		require.ErrorContains(t, err, `"python-host" runs it`)
		testenv.Timely(t, "Append, which waits for no host,", time.Since(began), 5*time.Second)
		_, err = st.Acquire(t.Context(), ownedID, sessionstore.Owner{})
		require.ErrorContains(t, err, `"python-host" runs it`)
		require.NoError(t, host.Release(h.workspace, ownedID))
	}
	t.Logf("the host got the session %d times, the machine stalled %d times", got, stalled)
	require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("5"))...))
}

// wakesBy reports whether a goroutine that sleeps until that time, in steps of
// 5 ms, is awake before limit.
func wakesBy(until, limit time.Time) <-chan bool {
	timely := make(chan bool, 1)
	go func() {
		for time.Now().Before(until) {
			time.Sleep(5 * time.Millisecond)
		}
		timely <- time.Now().Before(limit)
	}()
	return timely
}
