//go:build unix

package sessionstore_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/internal/test/writertest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestPythonHostGetsTheSession has a host that does not wait take the session
// right after each write of a store that stays open.
func TestPythonHostGetsTheSession(t *testing.T) {
	h := newHouse(t)
	st := open(t, h.dir, nil)
	require.NoError(t, st.Save(t.Context(), ownedID, parse(t, user("1")), h.metadata(t)))
	require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("2"))...))
	host := writertest.StartPython(t, testenv.Python(t), writertest.HostScript, 1).In(h.state(ownedID))
	for range 5 {
		require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("3"))...))
		held, err := host.Take(h.workspace, ownedID)
		require.NoError(t, err)
		require.True(t, held, "the host did not get the session")
		began := time.Now()
		err = st.Append(t.Context(), ownedID, parse(t, user("4"))...)
		require.ErrorIs(t, err, sessionstore.ErrLocked)
		require.ErrorContains(t, err, `"python-host" runs it`)
		testenv.Timely(t, "Append, which waits for no host,", time.Since(began), 5*time.Second)
		_, err = st.Acquire(t.Context(), ownedID, sessionstore.Owner{})
		require.ErrorContains(t, err, `"python-host" runs it`)
		require.NoError(t, host.Release(h.workspace, ownedID))
	}
	require.NoError(t, st.Append(t.Context(), ownedID, parse(t, user("5"))...))
}
