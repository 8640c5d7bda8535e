package sessionstore

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/store/index"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestIndexOfEmptySessions lists sessions without messages: the index has them, as it
// has others. Whatever another tool does to one of them, the next Summaries says what it
// says without an index.
func TestIndexOfEmptySessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.Need(t, keeps(t, dir), "the times of this file system are not relied on")
	st, err := Open(dir, &Options{Durability: Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	put := func(id, name, text string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(dir, id), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, id, name), []byte(text), 0o600))
	}
	const row = `{"role": "user", "content": "hello"}` + "\n"
	inPlace := func(id string) { // the directory does not change
		f, err := os.OpenFile(filepath.Join(dir, id, "metadata.json"), os.O_WRONLY|os.O_TRUNC, 0)
		require.NoError(t, err)
		_, err = f.WriteString(`{"turn_count": 3}`)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	changes := map[string]func(id string){
		"stays":    func(string) {},
		"row":      func(id string) { put(id, "transcript.jsonl", row) },
		"backup":   func(id string) { put(id, "transcript.jsonl.backup", row) },
		"marker":   func(id string) { put(id, sessiondir.Marker, "") },
		"metadata": func(id string) { put(id, "metadata.json", `{"turn_count": 2}`) },
		"in place": inPlace,
		"removed":  func(id string) { _ = os.Remove(filepath.Join(dir, id, "transcript.jsonl")) },
		"made":     func(id string) { put(id, "transcript.jsonl", "") },
	}
	for change := range changes {
		require.NoError(t, st.Create(t.Context(), "empty "+change, Metadata{}))
		put("missing "+change, "metadata.json", `{"turn_count": 0}`)
	}
	put("empty backup", "transcript.jsonl.backup", "") // no message in either

	list := func() (found map[string]Summary) {
		found = map[string]Summary{}
		for s, err := range st.Summaries(t.Context(), nil) {
			require.NoError(t, err)
			found[s.ID] = s
		}
		return found
	}
	require.Eventually(t, func() bool { // once the clock of the file system has gone on
		list()
		z := newSummarizer(st)
		places, err := z.places(nil)
		require.NoError(t, err)
		for _, p := range places {
			if e, ok := z.shard(index.Of(p.id))[p.id]; p.id != "empty backup" && (!ok || !z.holds(&e, p)) {
				return false
			}
		}
		return true
	}, time.Minute, 10*time.Millisecond, "the index has all of them")

	for change, do := range changes {
		do("empty " + change)
		do("missing " + change)
	}
	with := list()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, ".sessionstore", "index")))
	require.Equal(t, list(), with)
	require.Equal(t, 1, with["empty row"].Messages)
	require.True(t, with["missing in place"].Damaged)
}
