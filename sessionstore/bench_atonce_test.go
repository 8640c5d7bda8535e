package sessionstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// atOnce is the number of sessions that BenchmarkAppendAtOnce appends to at once.
const atOnce = 64

// BenchmarkAppendAtOnce appends to many sessions at once, durably, on the disk of TMPDIR.
// "bare" are files that get the same bytes and two syncs, of the file and of its directory,
// whose names do not change; "named" are pairs of files that also exchange their names before
// the second sync, as a transcript and its backup do: no program that gives a reader whole
// files is faster. The store's result names its share of both.
func BenchmarkAppendAtOnce(b *testing.B) {
	next := benchRow(0)
	line := append(next.m.line(), '\n')
	rates := map[string]float64{}
	for _, exchanges := range []bool{false, true} {
		name := map[bool]string{false: "bare", true: "named"}[exchanges]
		b.Run(name, func(b *testing.B) {
			top := b.TempDir()
			var dirs [atOnce]*vfs.Dir
			var files [atOnce][2]*os.File
			for i := range atOnce {
				path := filepath.Join(top, fmt.Sprint(i))
				require.NoError(b, os.Mkdir(path, 0o700))
				root, err := os.OpenRoot(path)
				require.NoError(b, err)
				dirs[i] = vfs.New(root, nil)
				defer dirs[i].Close()
				for j, name := range []string{"file", "file.backup"} {
					files[i][j], err = root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
					require.NoError(b, err)
					defer files[i][j].Close()
				}
			}
			rates[name] = benchAtOnce(b, func(i int) error {
				f := files[i][1]
				_, err := f.Write(line)
				err = errors.Join(err, f.Sync())
				if exchanges {
					err = errors.Join(err, dirs[i].Exchange("file", "file.backup"))
					files[i][0], files[i][1] = f, files[i][0]
				}
				return errors.Join(err, dirs[i].Sync())
			})
		})
	}
	b.Run("store", func(b *testing.B) {
		st, err := Open(b.TempDir(), nil)
		require.NoError(b, err)
		defer func() { require.NoError(b, st.Close()) }()
		add := func(i int) error { return st.Append(b.Context(), fmt.Sprint(i), next) }
		for i := range atOnce {
			require.NoError(b, errors.Join(add(i), add(i)))
		}
		rate := benchAtOnce(b, add)
		for name, of := range rates {
			b.ReportMetric(rate/of, "of-"+name)
		}
	})
}

// benchAtOnce calls do b.N times for each session, all sessions at once, and returns how many
// calls ended in a second.
func benchAtOnce(b *testing.B, do func(i int) error) (rate float64) {
	var wait sync.WaitGroup
	b.ResetTimer()
	for i := range atOnce {
		wait.Go(func() {
			for range b.N {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	rate = float64(b.N*atOnce) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "appends/s")
	return rate
}
