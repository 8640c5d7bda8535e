package sessionstore_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// manySessions makes n sessions of eight messages.
func manySessions(tb testing.TB, n int) string {
	dir := tb.TempDir()
	var text strings.Builder
	for i := range 4 {
		fmt.Fprintf(&text, "%s\n", user(fmt.Sprintf("question %d %s", i, strings.Repeat("why ", 200))))
		fmt.Fprintf(&text, `{"role": "assistant", "content": "answer %d %s"}`+"\n", i, strings.Repeat("so ", 300))
	}
	old := time.Now().Add(-time.Hour)
	for i := range n {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		write(tb, text.String(), dir, id, transcriptFile)
		write(tb, fmt.Sprintf(`{"session_id": %q, "created": "2026-11-18T12:00:00+00:00", "bundle": "unknown", "model": "m", "turn_count": 4, "working_dir": "/home/someone/project"}`, id), dir, id, metadataFile)
		for _, name := range []string{transcriptFile, metadataFile, "."} {
			require.NoError(tb, os.Chtimes(filepath.Join(dir, id, name), old, old))
		}
	}
	time.Sleep(50 * time.Millisecond) // the files come to rest
	return dir
}

// BenchmarkSummaries lists sessions in a store that was opened just now, as a
// new process does.
func BenchmarkSummaries(b *testing.B) {
	const sessions = 10_000
	dir := manySessions(b, sessions)
	run := func(name string, prepare func(), list func(*sessionstore.Store) int) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				prepare()
				st := open(b, dir, nil)
				b.StartTimer()
				require.Equal(b, sessions, list(st))
			}
		})
	}
	summaries := func(st *sessionstore.Store) (n int) {
		for _, err := range st.Summaries(b.Context(), nil) {
			require.NoError(b, err)
			n++
		}
		return n
	}
	index := filepath.Join(dir, ".sessionstore", "index")
	run("by=metadata", func() {}, func(st *sessionstore.Store) int {
		infos, err := st.List(b.Context(), nil)
		require.NoError(b, err)
		for _, info := range infos {
			_, err := st.Metadata(b.Context(), info.ID)
			require.NoError(b, err)
		}
		return len(infos)
	})
	run("by=summaries/index=none", func() { require.NoError(b, os.RemoveAll(index)) }, summaries)
	run("by=summaries/index=fits", func() {}, summaries)
	changed := filepath.Join(dir, "00000000-0000-4000-8000-000000000007", transcriptFile)
	run("by=summaries/index=one", func() { appendLine(b, changed, user("more")); time.Sleep(50 * time.Millisecond) }, summaries)
}

func appendLine(tb testing.TB, path, line string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(tb, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(tb, err)
	require.NoError(tb, f.Close())
}

// largeTranscript makes a session s with about so many bytes in messages of
// about so many.
func largeTranscript(tb testing.TB, bytes, message int) (dir string, turns int) {
	dir = tb.TempDir()
	require.NoError(tb, os.Mkdir(filepath.Join(dir, "s"), 0o700))
	f, err := os.Create(filepath.Join(dir, "s", transcriptFile))
	require.NoError(tb, err)
	w := bufio.NewWriterSize(f, 1<<20)
	text := strings.Repeat("word ", message/5)
	for n := 0; n < bytes; turns++ {
		k, _ := fmt.Fprintf(w, "%s\n", user(fmt.Sprintf("question %d", turns)))
		for i := range 4 {
			m, _ := fmt.Fprintf(w, `{"role": "assistant", "content": "%s", "n": %d}`+"\n", text, i)
			k += m
		}
		n += k
	}
	require.NoError(tb, w.Flush())
	require.NoError(tb, f.Close())
	time.Sleep(50 * time.Millisecond)
	return dir, turns
}

// BenchmarkTurn reads a turn in the middle of a large transcript in a store
// that was opened just now.
func BenchmarkTurn(b *testing.B) {
	size := 64 << 20
	if text := os.Getenv("INDEX_BENCH_BYTES"); text != "" {
		_, err := fmt.Sscan(text, &size)
		require.NoError(b, err)
	}
	for _, message := range []int{5 << 10, 8 << 20} {
		dir, turns := largeTranscript(b, size, message)
		index := filepath.Join(dir, ".sessionstore", "index")
		path := filepath.Join(dir, "s", transcriptFile)
		run := func(name string, prepare func(), do func(*sessionstore.Store) error) {
			b.Run(fmt.Sprintf("message=%d/%s", message, name), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					b.StopTimer()
					prepare()
					st := open(b, dir, nil)
					b.StartTimer()
					require.NoError(b, do(st))
				}
			})
		}
		turn := func(st *sessionstore.Store) error {
			rows, err := sessionstore.TurnOf(st, b.Context(), "s", turns/2)
			require.GreaterOrEqual(b, len(rows), 5)
			return err
		}
		run("load", func() {}, func(st *sessionstore.Store) error { _, err := st.Load(b.Context(), "s"); return err })
		run("index=none", func() { require.NoError(b, os.RemoveAll(index)) }, turn)
		run("index=fits", func() {}, turn)
		run("index=appended", func() { appendLine(b, path, user("more")) }, turn)
		own := open(b, dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
		time.Sleep(50 * time.Millisecond)
		require.NoError(b, turn(open(b, dir, nil)))
		run("index=own append", func() {
			require.NoError(b, own.Append(b.Context(), "s", parse(b, user("more"))...))
		}, turn)
		run("last=25", func() { time.Sleep(50 * time.Millisecond); _ = turn(open(b, dir, nil)) }, func(st *sessionstore.Store) error {
			_, err := sessionstore.LastTurnsOf(st, b.Context(), "s", 25)
			return err
		})
	}
}

// BenchmarkSince tells what is new in a large transcript, in a store that was
// opened just now.
func BenchmarkSince(b *testing.B) {
	const size = 64 << 20
	dir, _ := largeTranscript(b, size, 5<<10)
	path := filepath.Join(dir, "s", transcriptFile)
	since := func(c sessionstore.Cursor) (n int, next sessionstore.Cursor) {
		for e, err := range open(b, dir, nil).Since(b.Context(), "s", c) {
			require.NoError(b, err)
			n, next = n+1, e.Next
		}
		return n, next
	}
	all, end := since(sessionstore.Cursor{})
	b.Run("from=beginning", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			n, _ := since(sessionstore.Cursor{})
			require.Equal(b, all, n)
		}
	})
	b.Run("from=end", func(b *testing.B) {
		for b.Loop() {
			n, _ := since(end)
			require.Zero(b, n)
		}
	})
	b.Run("from=end/appended", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			b.StopTimer()
			appendLine(b, path, user("more"))
			b.StartTimer()
			var n int
			n, end = since(end)
			require.Equal(b, 1, n)
		}
	})
}
