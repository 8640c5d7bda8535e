package crashsim

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/stretchr/testify/require"
)

// rewrite saves data as main, and cleans up when that fails.
func rewrite(h hand, data string) error {
	err := script(
		func() error { return h.create("tmp") },
		func() error { return h.write("tmp", 0, data) },
		func() error { return h.sync("tmp") },
		func() error { return h.rename("tmp", "main") },
		func() error { return h.syncDir(".") },
	)
	if _, serr := os.Stat(h.path("tmp")); err != nil && serr == nil {
		_ = h.remove("tmp")
	}
	return err
}

func TestFailerEveryOperation(t *testing.T) {
	t.Parallel()
	for k, kind := range []seam.Kind{seam.Create, seam.Write, seam.Sync, seam.Rename, seam.SyncDir} {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			r, h := record(t, map[string]string{"main": before})
			f := &Failer{At: k, Err: syscall.EIO, Refused: r.Refused}
			h.seam.Before = f.Before
			require.ErrorIs(t, rewrite(h, after), syscall.EIO)
			op, ok := f.Failed()
			require.True(t, ok)
			require.Equal(t, kind, op.Kind)
			require.NoFileExists(t, h.path("tmp"))
			for _, s := range states(t, r, Crash{}) {
				require.Contains(t, []string{before, after}, found(s, "main"), s)
			}
		})
	}
}

func TestFailerCounts(t *testing.T) {
	t.Parallel()
	_, h := record(t, nil)
	f := &Failer{At: -1, Err: syscall.EIO}
	h.seam.Before = f.Before
	require.NoError(t, rewrite(h, after))
	require.Equal(t, 5, f.Count())
	_, ok := f.Failed()
	require.False(t, ok)
}

func TestFailerFullDisk(t *testing.T) {
	t.Parallel()
	for part, want := range map[int]string{0: "", 50: after[:4], 99: after[:7], 100: after, 500: after} {
		r, h := record(t, map[string]string{"main": before})
		f := &Failer{At: 1, Err: syscall.ENOSPC, Part: part, Stays: true}
		h.seam.Before = f.Before
		require.NoError(t, h.create("tmp"))
		require.ErrorIs(t, h.write("tmp", 0, after), syscall.ENOSPC)
		got, err := os.ReadFile(h.path("tmp"))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.ErrorIs(t, h.create("other"), syscall.ENOSPC, "the disk stays full")
		require.ErrorIs(t, h.mkdir("dir"), syscall.ENOSPC)
		require.NoError(t, h.remove("tmp"), "but can be cleaned")
		require.NoError(t, r.Verify(nil), "a short write is recorded as short")
	}
}

func TestFailerDeadDisk(t *testing.T) {
	t.Parallel()
	_, h := record(t, map[string]string{"main": before})
	f := &Failer{At: 1, Err: syscall.EIO, Stays: true}
	h.seam.Before = f.Before
	require.NoError(t, h.create("tmp"))
	require.ErrorIs(t, h.sync("tmp"), syscall.EIO)
	require.ErrorIs(t, h.remove("tmp"), syscall.EIO)
	op, _ := f.Failed()
	require.Equal(t, seam.Sync, op.Kind, "the first one")
}

func TestSeamRound(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	tests := map[time.Duration]time.Time{
		0:                    at,
		4 * time.Millisecond: time.Date(2026, 1, 2, 3, 4, 5, 676_000_000, time.UTC),
		2 * time.Second:      time.Date(2026, 1, 2, 3, 4, 4, 0, time.UTC),
	}
	for step, want := range tests {
		require.Equal(t, want, (&seam.Seam{Clock: step}).Round(at))
	}
	require.Equal(t, at, (*seam.Seam)(nil).Round(at))
}
