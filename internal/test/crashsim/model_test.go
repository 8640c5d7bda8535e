package crashsim

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// Random operations, some of which fail, are done on a real directory: the
// model must follow each, whatever they do to names and hard links.
func TestModelFollowsDisk(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+20; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r, h := record(t, map[string]string{"a": "A", "d/b": "B", "d/e/c": "C"})
			rng := rand.New(rand.NewPCG(seed, 0))
			for range 60 {
				_ = randomly(h, rng)
			}
			require.NotZero(t, r.Len())
			require.NoError(t, r.Verify(nil))
		})
	}
}

// randomly does one operation on few names, so that it often meets others.
func randomly(h hand, rng *rand.Rand) error {
	name := func() string {
		return []string{"", "d/", "d/e/", "f/"}[rng.IntN(4)] + []string{"a", "b", "c", "d", "e", "f"}[rng.IntN(6)]
	}
	from, to := name(), name()
	switch rng.IntN(14) {
	case 0:
		return h.mkdir(from)
	case 1:
		return h.create(from)
	case 2, 3:
		return h.write(from, rng.Int64N(9), strings.Repeat("x", rng.IntN(5)))
	case 4:
		return h.truncate(from, rng.Int64N(12))
	case 5:
		return h.sync(from)
	case 6:
		return h.syncDir(from)
	case 7, 8:
		if runtime.GOOS == "windows" && sameFile(h, from, to) {
			return nil // the model does as POSIX, where nothing happens
		}
		return h.rename(from, to)
	case 9:
		return h.exchange(from, to)
	case 10, 11:
		return h.link(from, to)
	case 12:
		return h.chtimes(from, time.Unix(rng.Int64N(1e9), 0))
	}
	if rng.IntN(4) == 0 {
		return h.removeAll(from)
	}
	return h.remove(from)
}

func sameFile(h hand, name, other string) bool {
	a, err := os.Lstat(h.path(name))
	if err != nil {
		return false
	}
	b, err := os.Lstat(h.path(other))
	return err == nil && os.SameFile(a, b)
}

// What is materialised and read again is the state.
func TestMaterialise(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"s/main": before, "s/backup": before})
	require.NoError(t, script(
		func() error { return h.link("s/main", "s/kept") },
		func() error { return h.create("s/tmp") },
		func() error { return h.write("s/tmp", 0, after) },
		func() error { return h.chtimes("s/tmp", time.Unix(1e9, 4e6)) },
		func() error { return h.rename("s/tmp", "s/main") },
		func() error { return h.mkdir("s/sub") },
	))
	list := states(t, r, Crash{})
	require.Greater(t, len(list), 50)
	for _, s := range list {
		dir := filepath.Join(t.TempDir(), "fresh")
		require.NoError(t, s.Materialise(dir))
		d, err := snapshot(dir)
		require.NoError(t, err)
		again := &State{names: d.volatile}
		for _, n := range d.inodes {
			again.files = append(again.files, n.durable)
		}
		require.Equal(t, s.sum(), again.sum(), s)
		require.Error(t, s.Materialise(dir), "not empty")
	}
}

func TestSnapshotSymlink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	r, err := Record(dir)
	require.NoError(t, err)
	for _, s := range states(t, r, Crash{}) {
		out := filepath.Join(t.TempDir(), "out")
		require.NoError(t, s.Materialise(out))
		to, err := os.Readlink(filepath.Join(out, "link"))
		require.NoError(t, err)
		require.Equal(t, "nowhere", to)
	}
}

func TestStateReadFile(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"s/main": before})
	require.NoError(t, h.write("s/main", 0, "ONE"))
	for _, s := range states(t, r, Crash{}) {
		_, err := s.ReadFile("s")
		require.ErrorIs(t, err, fs.ErrNotExist)
		_, err = s.ReadFile("s/main/x")
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.Equal(t, []string{"s", "s/main"}, s.Paths())
		require.NotContains(t, s.String(), "ONE", "no content in texts")
	}
}
