package slice_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// BenchmarkFork forks a session of 10,000 messages and a log of so many bytes,
// with a store that has not seen it before. With SLICE_BENCH_SESSION set to
// the directory of a session, it forks that.
func BenchmarkFork(b *testing.B) {
	for _, d := range []sessionstore.Durability{sessionstore.Durable, sessionstore.Relaxed} {
		b.Run(fmt.Sprintf("durability=%d", d), func(b *testing.B) {
			dir, id, size := benchSession(b)
			b.SetBytes(size)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: d})
				require.NoError(b, err)
				n++
				_, err = slice.Fork(b.Context(), st, id, &slice.ForkOptions{NewID: fmt.Sprint("fork-", n)})
				require.NoError(b, err)
				b.StopTimer()
				require.NoError(b, st.Delete(b.Context(), fmt.Sprint("fork-", n)))
				require.NoError(b, st.Close())
				b.StartTimer()
			}
		})
	}
}

func benchSession(b *testing.B) (dir, id string, size int64) {
	b.Helper()
	if path := os.Getenv("SLICE_BENCH_SESSION"); path != "" {
		info, err := os.Stat(filepath.Join(path, eventsFile))
		require.NoError(b, err)
		return filepath.Dir(path), filepath.Base(path), info.Size()
	}
	st := openStore(b, "")
	var rows, events strings.Builder
	for i := range 5000 {
		rows.WriteString(said("user", strings.Repeat("frage ", 100), 2*i))
		rows.WriteString(said("assistant", strings.Repeat("antwort ", 100), 2*i+1))
	}
	for i := range 20_000 {
		events.WriteString(strings.Replace(logged(i/2), "{}", `{"text": "`+strings.Repeat("x", 400)+`"}`, 1))
	}
	put(b, st, parentID, map[string]string{transcriptFile: rows.String(), metadataFile: parentMeta, eventsFile: events.String()})
	return st.Dir(), parentID, int64(events.Len())
}
