package eventslog

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCutCounts counts what is kept and what is damaged; what is after the cut
// and what is blank is neither.
func TestCutCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lines := `{"ts": "2026-01-01T00:00:01Z", "session_id": "s"}` + "\n" +
		"\n \t\r\n{bad\n5\n\xff\n" +
		`{"ts": "soon"}` + "\n" + `{"ts": 5}` + "\n" + `{"ts": ""}` + "\n" +
		`{"ts": "2026-01-01T00:00:03Z"}` + "\n" + `{"torn`
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), []byte(lines), 0o600))
	l, err := Open(dir, nil)
	require.NoError(t, err)
	defer l.Close()
	var out bytes.Buffer
	c, err := l.SliceTo(t.Context(), &out, time.Date(2026, 1, 1, 0, 0, 2, 0, time.UTC), "", "")
	require.NoError(t, err)
	require.Equal(t, Cut{Events: 2, Skipped: 6}, c)
	require.Equal(t, 2, bytes.Count(out.Bytes(), []byte("\n")))
}
