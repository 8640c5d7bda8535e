package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func store(t *testing.T) *sessionstore.Store {
	t.Helper()
	st, err := sessionstore.Open(filepath.Join(t.TempDir(), "p", "sessions"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// write writes files of a session, all as old as at.
func write(t *testing.T, st *sessionstore.Store, id string, at time.Time, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(st.Dir(), id, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
}

// unpack returns the files of an archive.
func unpack(t *testing.T, archive []byte, at time.Time) map[string]string {
	t.Helper()
	files := map[string]string{}
	for in := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		require.True(t, h.ModTime.Equal(at), h.Name)
		files[h.Name] = string(text)
	}
}

func TestTar(t *testing.T) {
	t.Parallel()
	st := store(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC)
	if runtime.GOOS == "windows" {
		at = at.Truncate(100 * time.Nanosecond)
	}
	giant := strings.Repeat("x", 1<<20) + " hunter2 \xff\n"
	files := map[string]string{
		"transcript.jsonl":                               "{\"role\": \"user\", \"content\": \"hunter2\"}\n{torn",
		"transcript.jsonl.backup":                        "hunter2",
		"transcript.jsonl.bak-pre-repair-20260101000000": "hunter2",
		"metadata.json":                                  "{\n  \"session_id\": \"s\",\n  \"x\": \"hunter2\"\n}",
		"events.jsonl":                                   giant,
		"context-intelligence/events.jsonl":              "",
		"notes with spaces.txt":                          "mine",
	}
	write(t, st, "s", at, files)
	write(t, st, "s", at, map[string]string{".transcript_abcdefgh.tmp": "", "transfer-fence.json": "", ".hidden/x": ""})
	var out bytes.Buffer
	require.NoError(t, Write(t.Context(), &out, st, []string{"s"}, nil))
	want := map[string]string{}
	for name, text := range files {
		want["s/"+name] = text
	}
	require.Equal(t, want, unpack(t, out.Bytes(), at))

	out.Reset()
	require.NoError(t, Write(t.Context(), &out, st, []string{"s"}, &WriteOptions{Redact: secrets{}}))
	require.NotContains(t, out.String(), "hunter2")
	redacted := unpack(t, out.Bytes(), at)
	require.Len(t, redacted, 5)
	require.Equal(t, strings.ReplaceAll(giant, "hunter2", "[redacted]"), redacted["s/events.jsonl"])

	require.ErrorIs(t, Write(t.Context(), &out, st, []string{"none"}, nil), sessionstore.ErrNotFound)
	require.ErrorIs(t, Write(t.Context(), &out, st, []string{".."}, nil), sessionstore.ErrNotFound)
}

func TestTarDuringAnAppend(t *testing.T) {
	t.Parallel()
	st := store(t)
	at := time.Unix(1_700_000_000, 0)
	write(t, st, "s", at, map[string]string{
		"transcript.jsonl": "new\nhal", "transcript.jsonl.backup": "old\n", "transcript.jsonl.append-pending": "",
	})
	for _, r := range []Redactor{nil, secrets{}} {
		var out bytes.Buffer
		require.NoError(t, Write(t.Context(), &out, st, []string{"s"}, &WriteOptions{Redact: r}))
		require.Equal(t, map[string]string{"s/transcript.jsonl": "old\n"}, unpack(t, out.Bytes(), at))
	}
}

func TestWriteLines(t *testing.T) {
	t.Parallel()
	st := store(t)
	const rows = "{\"role\":  \"user\", \"content\": \"\\u00e9 hunter2\"}\n{\"content\": 1.50, \"role\": \"x\"}\n"
	write(t, st, "s", time.Now(), map[string]string{"transcript.jsonl": rows, "metadata.json": "{}"})
	var out strings.Builder
	require.NoError(t, Write(t.Context(), &out, st, []string{"s"}, &WriteOptions{Format: JSONL}))
	require.Equal(t, rows, out.String())
	out.Reset()
	require.NoError(t, Write(t.Context(), &out, st, []string{"s"}, &WriteOptions{Format: JSONL, Redact: secrets{}}))
	require.Equal(t, strings.ReplaceAll(rows, "hunter2", "[redacted]"), out.String())

	write(t, st, "bad", time.Now(), map[string]string{"transcript.jsonl": rows + "{torn\n"})
	out.Reset()
	require.ErrorIs(t, Write(t.Context(), &out, st, []string{"bad"}, &WriteOptions{Format: JSONL}), sessionstore.ErrCorrupt)
	require.Equal(t, rows, out.String())
	require.ErrorIs(t, Write(t.Context(), &out, st, []string{"none"}, &WriteOptions{Format: JSONL}), sessionstore.ErrNotFound)
}
