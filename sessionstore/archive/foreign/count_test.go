package foreign

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/counts/count"
)

// counts returns what the files of a history hold, of a dry run and of an import.
func counts(t testing.TB, h History) count.Counts {
	t.Helper()
	p := openProjects(t)
	ctx, dry := counting(t)
	if _, err := Import(ctx, p, h, &Options{DryRun: true}); err != nil {
		require.ErrorIs(t, err, ErrEmpty)
	}
	ctx, counted := counting(t)
	if _, err := Import(ctx, p, h, nil); err != nil {
		require.ErrorIs(t, err, ErrEmpty)
	}
	require.Equal(t, dry, counted)
	return *counted
}

// TestCounts compares the counts of the corpus, which are JSON, a session a line.
func TestCounts(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	enc := json.NewEncoder(&got)
	enc.SetEscapeHTML(false)
	for _, h := range corpus(t) {
		for _, c := range counts(t, h) {
			c.File = filepath.ToSlash(c.File)
			require.NoError(t, enc.Encode(c))
		}
	}
	golden := filepath.Join("testdata", "golden", "counts.jsonl")
	if *update {
		require.NoError(t, os.WriteFile(golden, got.Bytes(), 0o600))
	}
	require.Equal(t, strings.Split(original(t, golden), "\n"), strings.Split(got.String(), "\n"))
}
