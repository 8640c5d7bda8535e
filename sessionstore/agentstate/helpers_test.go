package agentstate

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

var noon = time.Date(2025, 10, 1, 12, 0, 0, 0, time.UTC)

const id = "s1"

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"write": writeAsChild, "claim": claimAsChild, "act": actAsChild, "first": firstAsChild})
}

// newState returns the state of a new session and a function that opens it
// again.
func newState(t testing.TB) (*State, func() *State) {
	st := newStore(t, nil)
	again := func() *State {
		s, err := Open(st, id, nil)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	return again(), again
}

// newStore returns a store with a session, where it is always noon.
func newStore(t testing.TB, hooks *seam.Seam) *sessionstore.Store {
	st, err := core.Open(t.TempDir(), &sessionstore.Options{Now: func() time.Time { return noon }}, hooks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	require.NoError(t, st.Create(t.Context(), id, sessionstore.Metadata{}))
	return st
}

func path(s *State, name string) (path string) {
	_ = s.core.Read(context.Background(), s.id, func(d *sessiondir.Dir) error {
		path = d.Path(name)
		return nil
	})
	return path
}

func write(t *testing.T, s *State, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path(s, name), []byte(content), 0o600))
}

// keyPath returns the path of the key of the sessions directory.
func keyPath(s *State) string {
	return filepath.Join(path(s, ".."), sessiondir.Bookkeeping, keyDir, keyFile)
}

func writeKey(t *testing.T, s *State, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(keyPath(s)), 0o700))
	require.NoError(t, os.WriteFile(keyPath(s), []byte(content), 0o600))
}

func read(t *testing.T, s *State, name string) string {
	t.Helper()
	raw, err := os.ReadFile(path(s, name))
	require.NoError(t, err)
	return string(raw)
}

func items(texts ...string) (list []json.RawMessage) {
	for _, s := range texts {
		list = append(list, json.RawMessage(s))
	}
	return list
}
