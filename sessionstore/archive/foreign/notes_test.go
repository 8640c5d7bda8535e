package foreign

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNotesStayFew notes the same imports again and again: the file does not grow with them,
// and has the last note of each, also after a torn row.
func TestNotesStayFew(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	file := filepath.Join(g.st.Dir(), ".sessionstore", notesFolder, "claude.jsonl")
	for n := range 400 {
		q := &question{notes: newNotes(), file: file, of: fmt.Sprint(n % 3)}
		q.add(g.st, fmt.Appendf(nil, `{"Of":"%d","Asked":"%d"}`, n%3, n))
		if n == 398 {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, append(raw, `{"Of":"torn`...), 0o600))
		}
	}
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Less(t, bytes.Count(raw, []byte("\n")), 130)
	q := &question{notes: newNotes(), file: file}
	for of, row := range q.read() {
		require.Contains(t, []string{"0 399", "1 397", "2 398"}, of+" "+string(bytes.Split(row, []byte(`"`))[7]))
	}
	require.Len(t, q.read(), 3)
}
