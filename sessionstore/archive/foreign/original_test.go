package foreign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// large is a history of some MiB in a file that grows.
type large struct {
	growing
	lines int
}

func newLarge(t *testing.T, size int) *large {
	t.Helper()
	l := &large{growing: *newGrowing(t)}
	var err error
	l.lines, err = writeLarge(l.path, size)
	require.NoError(t, err)
	return l
}

func (l *large) grow() {
	l.t.Helper()
	require.NoError(l.t, growLarge(l.path, l.lines))
}

// kept returns the three files that an import of the history writes.
func (l *large) kept(st *sessionstore.Store) (files [3]string) {
	l.t.Helper()
	for i, name := range []string{"transcript.jsonl", "import/original.jsonl.zst", "import/map.jsonl"} {
		files[i] = original(l.t, filepath.Join(st.Dir(), idOf(Claude, "g"), name))
	}
	return files
}

// requireFresh requires that the session is as if the history had been imported once.
func (l *large) requireFresh() {
	l.t.Helper()
	other := newGrowing(l.t)
	other.path = l.path
	require.Equal(l.t, Created, other.run(nil)[0].Action)
	want, got := l.kept(other.st), l.kept(l.st)
	for i := range want {
		require.True(l.t, want[i] == got[i], "file %d", i)
	}
	require.True(l.t, original(l.t, l.path) == unpacked(l.t, l.st, idOf(Claude, "g")))
}

// TestKept brings sessions up to date whose original is another one than the beginning of
// the tool's file, is damaged, is not compressed, or is not there.
func TestKept(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(l *large, kept string){
		"grown": func(*large, string) {},
		"damaged": func(l *large, kept string) {
			data := []byte(original(l.t, kept))
			copy(data[len(data)/2:], "damage")
			require.NoError(l.t, os.WriteFile(kept, data, 0o600))
		},
		"of another form": func(l *large, kept string) {
			require.NoError(l.t, os.WriteFile(kept, []byte("other"), 0o600))
		},
		"cut":  func(l *large, kept string) { require.NoError(l.t, os.Truncate(kept, 1000)) },
		"gone": func(l *large, kept string) { require.NoError(l.t, os.RemoveAll(filepath.Dir(kept))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLarge(t, 3)
			id := l.run(nil)[0].ID
			change(l, filepath.Join(l.st.Dir(), id, importFolder, originalFile))
			l.grow()
			require.Equal(t, Updated, l.run(nil)[0].Action)
			l.requireFresh()
		})
	}
}
