package foreign

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/counts/count"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

func original(t testing.TB, path string) string {
	t.Helper()
	if filepath.Base(filepath.Dir(path)) == "opencode.db" {
		return linesAt(t, path)
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// unpacked returns the original that a session keeps.
func unpacked(t testing.TB, st *sessionstore.Store, id string) string {
	t.Helper()
	f, err := os.Open(filepath.Join(st.Dir(), id, "import", "original.jsonl.zst"))
	require.NoError(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	require.NoError(t, err)
	defer z.Close()
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	return string(data)
}

// tree returns the files of sessions below dir.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if e.IsDir() && strings.HasPrefix(e.Name(), ".") && rel != "." {
			return fs.SkipDir
		}
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			files[rel] = original(t, path)
		}
		return nil
	}))
	return files
}

// idOf returns the id of the session that an import makes of a conversation.
func idOf(tool Tool, id string) string { return thread.UUID5(string(tool), id) }

// counting returns a context with which imports count what they find.
func counting(t testing.TB) (context.Context, *count.Counts) {
	found := &count.Counts{}
	return thread.WithFinds(t.Context(), found.Add), found
}

// isUUID is the form of the ids that both tools give.
var isUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// uuidIn returns the id of a record of Claude Code or pi, "" where it has none.
func uuidIn(row string) string {
	var record struct{ UUID, ID string }
	_ = json.Unmarshal([]byte(row), &record)
	return cmp.Or(record.UUID, record.ID)
}

// reminded returns a text as a message that no person wrote has it.
func reminded(said string) string { return "<system-reminder>\n" + said + "\n</system-reminder>" }

// why returns what a report says of lines.
func why(lines []LineError) (all []string) {
	for _, l := range lines {
		all = append(all, fmt.Sprintf("line %d: %v", l.Line, l.Err))
	}
	return all
}
