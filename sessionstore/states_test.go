package sessionstore

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// More sessions are written than may keep the directories of their ownership locks
// open, again and again, and session directories vanish in between.
func TestOpenFilesAreBounded(t *testing.T) {
	t.Parallel()
	st, err := Open(t.TempDir(), &Options{Durability: Relaxed, Workspace: t.TempDir()})
	require.NoError(t, err)
	const sessions = maxStates + 10
	row := newMessage([]byte(`{"role": "user", "content": "hi"}`))
	for round := range 3 {
		for i := range sessions {
			id := fmt.Sprint("s", i)
			if round == 2 && i%7 == 0 {
				require.NoError(t, os.RemoveAll(filepath.Join(st.Dir(), id)))
			}
			require.NoError(t, st.Append(t.Context(), id, row))
		}
		if st.states.open != nil { // Windows has no such locks
			require.LessOrEqual(t, st.states.open.Cost(), int64(maxStates))
		}
	}
	for i := range sessions {
		s, err := st.Load(t.Context(), fmt.Sprint("s", i))
		require.NoError(t, err)
		require.Len(t, s.Messages, map[bool]int{true: 1, false: 3}[i%7 == 0])
	}
	require.NoError(t, st.Delete(t.Context(), "s1"))
	require.NoError(t, st.Close())
}
