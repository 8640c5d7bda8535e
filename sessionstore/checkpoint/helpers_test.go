package checkpoint

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var noon = time.Date(2026, 2, 5, 12, 0, 0, 0, time.UTC)

// newStore returns a store whose clock stands at noon and whose temporary
// directory is its own.
func newStore(t *testing.T) *Dir {
	return New(&Options{Now: func() time.Time { return noon }, TempDir: t.TempDir()})
}

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"decide": decideAsChild, "live": liveAsChild})
}

// put makes a session in the primary place of output from raw.
func put(t *testing.T, st *Dir, output, raw string) *Run {
	dir := filepath.Join(output, primaryName)
	return putAt(t, st, dir, raw)
}

func putAt(t *testing.T, st *Dir, dir, raw string) *Run {
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, stateFile), []byte(raw), 0o600))
	s, err := st.Open(dir)
	require.NoError(t, err)
	return s
}

func example(t *testing.T) string {
	raw, err := os.ReadFile("testdata/example.json")
	require.NoError(t, err)
	return string(raw)
}

func touch(t *testing.T, parts ...string) {
	path := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
}

func onDisk(t *testing.T, s *Run) string {
	raw, err := os.ReadFile(filepath.Join(s.Dir(), stateFile))
	require.NoError(t, err)
	return string(raw)
}

// foreign sets what no call sets, a member of a member of the state, as another
// tool may.
func foreign(t *testing.T, s *Run, where, name, value string) {
	t.Helper()
	require.NoError(t, s.change(t.Context(), "set a member", func(old State) ([]byte, error) {
		return pyjson.Splice(old.raw, where, pyjson.Splice(memberOr(old.raw, where, "{}"), name, []byte(value))), nil
	}))
}
