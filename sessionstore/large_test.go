package sessionstore_test

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// hugeSize is the size of a file that does not fit into memory.
const hugeSize = limits.Max + limits.Max/16

// TestTooLarge has sessions with a file that is too large to be read as a whole,
// a hole for the most part. Calls on it fail with that reason and change
// nothing, not even by way of its backup; all others go on.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a large file takes space there")
	}
	dir := t.TempDir()
	st := open(t, dir, nil)
	for _, id := range []string{"large", "small", "metadata"} {
		require.NoError(t, st.Append(t.Context(), id, parse(t, user("1"))...))
		require.NoError(t, st.Append(t.Context(), id, parse(t, user("2"))...))
	}
	main := filepath.Join(dir, "large", transcriptFile)
	grow(t, main)
	if strconv.IntSize == 32 { // else it would be read
		grow(t, filepath.Join(dir, "metadata", metadataFile))
	}
	before := sizes(t, filepath.Join(dir, "large"))

	for _, st := range []*sessionstore.Store{st, open(t, dir, nil)} {
		_, err := st.Load(t.Context(), "large")
		requireTooLarge(t, err)
		requireTooLarge(t, st.Append(t.Context(), "large", parse(t, user("3"))...))
		requireTooLarge(t, st.Save(t.Context(), "large", parse(t, user("3")), sessionstore.Metadata{}))
	}
	require.Equal(t, before, sizes(t, filepath.Join(dir, "large")))

	if _, err := st.Load(t.Context(), "metadata"); strconv.IntSize == 32 {
		require.ErrorIs(t, err, limits.ErrTooLarge)
		require.ErrorContains(t, err, metadataFile)
	} else {
		require.NoError(t, err)
	}
	all, err := st.List(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.NoError(t, st.Append(t.Context(), "small", parse(t, user("3"))...))
	s, err := st.Load(t.Context(), "small")
	require.NoError(t, err)
	require.Len(t, s.Messages, 3)
}

func requireTooLarge(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, limits.ErrTooLarge)
	require.NotErrorIs(t, err, sessionstore.ErrCorrupt)
	require.ErrorContains(t, err, transcriptFile)
	require.ErrorContains(t, err, strconv.FormatInt(hugeSize, 10))
}

// grow makes the file huge, with a hole at its end.
func grow(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Truncate(path, hugeSize))
}

// sizes returns the size of each file in dir.
func sizes(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]int64{}
	for _, e := range entries {
		fi, err := e.Info()
		require.NoError(t, err)
		all[e.Name()] = fi.Size()
	}
	return all
}

// TestMessagesOfALargeTranscript reads a transcript on 32 bits that does not fit
// into memory: Messages and searches go on where Load cannot, and a line that
// does not fit is an error.
func TestMessagesOfALargeTranscript(t *testing.T) {
	t.Parallel()
	if strconv.IntSize > 32 {
		t.Log("64 bits have room for it")
		return
	}
	dir := t.TempDir()
	st := open(t, dir, nil)
	for _, id := range []string{"large", "hole"} {
		require.NoError(t, st.Append(t.Context(), id, parse(t, user("1"))...))
	}
	main := filepath.Join(dir, "large", transcriptFile)
	line := user(strings.Repeat("x", 16<<20)) + "\n"
	rows := 1 + int(limits.Max)/len(line) + 1
	file, err := os.OpenFile(main, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	out := bufio.NewWriter(file)
	for range rows - 1 {
		_, err := out.WriteString(line)
		require.NoError(t, err)
	}
	require.NoError(t, out.Flush())
	require.NoError(t, file.Close())
	require.NoError(t, os.Truncate(filepath.Join(dir, "hole", transcriptFile), 3<<30))

	_, err = st.Load(t.Context(), "large")
	require.ErrorIs(t, err, limits.ErrTooLarge)
	n := 0
	for _, err := range st.Messages(t.Context(), "large") {
		require.NoError(t, err)
		n++
	}
	require.Equal(t, rows, n)
	for _, err = range st.Messages(t.Context(), "hole") {
		require.Error(t, err)
	}
	require.ErrorIs(t, err, limits.ErrTooLarge)
}
