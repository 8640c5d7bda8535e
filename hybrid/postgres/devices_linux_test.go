package postgres

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// device opens a store of a device that shares a remote.
func device(t *testing.T, address, name, dir string) *hybrid.Store {
	t.Helper()
	st, err := hybrid.Open(t.Context(), dir, &hybrid.Options{
		Remote: connect(t, address), User: "ada", Project: "weather", Device: name, Manual: true, Limits: &hybrid.Limits{FirstAnswer: time.Minute},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = st.Shutdown(context.WithoutCancel(t.Context())) })
	return st
}

func say(t *testing.T, st *hybrid.Store, id, text string) {
	t.Helper()
	m, err := sessionstore.Text("user", text, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), id, m))
}

// TestDevices has two devices take turns in a session; the server is killed in between, and
// one device goes on without it.
func TestDevices(t *testing.T) {
	t.Parallel()
	s := own(t)
	address := s.address("admin", s.provisioned(t))
	here, there := t.TempDir(), t.TempDir()
	a, b := device(t, address, "a", here), device(t, address, "b", there)
	for i := range 4 {
		st := []*hybrid.Store{a, b}[i%2]
		if i > 0 {
			_, err := st.Refresh(t.Context(), "forecast")
			require.NoError(t, err)
		}
		say(t, st, "forecast", fmt.Sprint("turn ", i))
		_, err := st.Sync(t.Context(), "forecast")
		require.NoError(t, err)
		if i == 1 {
			s.kill()
			require.NoError(t, s.start())
		}
	}
	_, err := a.Refresh(t.Context(), "forecast")
	require.NoError(t, err)
	s.stop()
	say(t, a, "forecast", "offline")
	_, err = a.Sync(t.Context(), "forecast")
	require.Error(t, err)
	require.NoError(t, a.Close())
	require.NoError(t, s.start())
	// The next run of the program sends the turn.
	_, err = device(t, address, "a", here).Sync(t.Context(), "forecast")
	require.NoError(t, err)
	require.NoError(t, b.Close())
	b = device(t, address, "b", there)
	_, err = b.Refresh(t.Context(), "forecast")
	require.NoError(t, err)
	session, err := b.Load(t.Context(), "forecast")
	require.NoError(t, err)
	var said []string
	for _, m := range session.Messages {
		said = append(said, m.Content())
	}
	require.Equal(t, []string{"turn 0", "turn 1", "turn 2", "turn 3", "offline"}, said)
}

// TestLineRepeatsItself syncs lines whose pieces are equal, to another device.
func TestLineRepeatsItself(t *testing.T) {
	t.Parallel()
	s := running(t)
	address := s.address("admin", s.provisioned(t))
	here, there := t.TempDir(), t.TempDir()
	a, b := device(t, address, "a", here), device(t, address, "b", there)
	for id, text := range map[string]string{"x": strings.Repeat("x", 3_000_000), "pattern": strings.Repeat("0123456789abcdef", 1_250_000)} {
		say(t, a, id, text)
		say(t, a, id, text)
		_, err := a.Sync(t.Context(), id)
		require.NoError(t, err)
		_, err = b.Pull(t.Context(), id)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(here, id, "transcript.jsonl"))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(there, id, "transcript.jsonl"))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), id)
	}
}

// TestCostOfAHandover has two devices take turns: the sync of a turn makes three statements.
func TestCostOfAHandover(t *testing.T) {
	t.Parallel()
	s := running(t)
	address, top := s.address("admin", s.provisioned(t)), t.TempDir()
	for turn := range 6 {
		name := []string{"a", "b"}[turn%2]
		st := device(t, address, name, filepath.Join(top, name))
		if turn > 0 {
			_, err := st.Refresh(t.Context(), "forecast")
			require.NoError(t, err)
		}
		say(t, st, "forecast", fmt.Sprint("turn ", turn))
		got, err := st.Sync(t.Context(), "forecast")
		require.NoError(t, err)
		if turn > 0 {
			require.Equal(t, 3, got.Requests, "turn %d", turn)
		}
		require.NoError(t, st.Close())
	}
}
