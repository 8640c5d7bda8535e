package eventslog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// batches are the events of the calls that the tests of faults make.
var batches = [][]string{{"a"}, {"b", "c", "d"}, {"e"}, {"f", "g"}}

// deeds are calls of Append that were made of a log, some acknowledged.
type deeds struct {
	attempted    []string
	acknowledged []string
	acked        []int // how many of these after each acknowledged call
}

// do appends the batches one by one.
func (d *deeds) do(t *testing.T, l *Log, acknowledge func()) {
	t.Helper()
	for _, names := range batches {
		events := make([]Event, len(names))
		for i, name := range names {
			events[i] = Event{Name: name, Data: map[string]any{"text": strings.Repeat("x", 20)}}
		}
		d.attempted = append(d.attempted, names...)
		if l.Append(t.Context(), events...) != nil {
			continue
		}
		d.acknowledged = append(d.acknowledged, names...)
		d.acked = append(d.acked, len(d.acknowledged))
		acknowledge()
	}
}

// requireGoesOn opens the log in dir, which must hold the events want and of
// others only what was attempted, in order. A further event harms none.
func (d *deeds) requireGoesOn(t *testing.T, dir string, want []string, place string) {
	t.Helper()
	l, err := Open(dir, nil)
	require.NoError(t, err)
	found, _ := names(t, l, Cursor{})
	require.Empty(testenv.Lost(t), missing(want, found), "%s: found %v", place, found)
	require.Empty(t, missing(found, d.attempted), place)
	require.NoError(t, l.Append(t.Context(), Event{Name: "next"}), place)
	after, _ := names(t, l, Cursor{})
	require.Equal(t, append(slices.Clone(found), "next"), after, place)
	require.NoError(t, l.Close())
}

// missing returns what of list is not in all, in that order.
func missing(list, all []string) (lost []string) {
	for _, name := range list {
		i := slices.Index(all, name)
		if i < 0 {
			lost = append(lost, name)
			continue
		}
		all = all[i+1:]
	}
	return lost
}

// TestEveryFault lets every operation of four calls fail in turn, writes
// after none, half and all of their bytes.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	for _, sync := range []bool{false, true} {
		for _, part := range []int{0, 50, 99, 100} {
			for _, stays := range []bool{false, true} {
				for at := 0; ; at++ {
					place := fmt.Sprintf("sync %t, part %d, stays %t, at %d", sync, part, stays, at)
					dir := filepath.Join(t.TempDir(), "deep", "sess")
					failer := &crashsim.Failer{At: at, Err: syscall.ENOSPC, Part: part, Stays: stays}
					l, err := open(dir, &Options{Sync: sync}, &seam.Seam{Before: failer.Before})
					require.NoError(t, err)
					var d deeds
					d.do(t, l, func() {})
					require.NoError(t, l.Close())
					d.requireGoesOn(t, dir, d.acknowledged, place)
					if _, failed := failer.Failed(); !failed {
						require.Equal(t, d.attempted, d.acknowledged)
						require.GreaterOrEqual(t, at, 7, "make two directories and a file, four writes")
						break
					}
				}
			}
		}
	}
}

// mkdir lets another writer make a directory, whose name is not durable.
func mkdir(t *testing.T, base, name string, hooks *seam.Seam) {
	t.Helper()
	root, err := os.OpenRoot(base)
	require.NoError(t, err)
	d := vfs.New(root, hooks)
	require.NoError(t, d.Mkdir(name))
	require.NoError(t, d.Close())
}

// tear lets another writer leave half an event.
func tear(t *testing.T, dir string, hooks *seam.Seam) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	d := vfs.New(root, hooks)
	f, _, err := d.Append(fileName)
	require.NoError(t, err)
	fi, err := f.File().Stat()
	require.NoError(t, err)
	require.NoError(t, f.Write([]byte(`{"event": "torn`), fi.Size()))
	require.NoError(t, f.Close())
	require.NoError(t, d.Close())
}

// TestPowerCuts cuts the power after every operation of logs that are
// appended to, also after another writer tore the tail or a sync was refused.
// What was acknowledged of a synced log is found in every state; of no log is
// a torn event merged with what is written next.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	limit := testenv.Share(60, 60, testenv.Further(300, 1000))
	for _, sync := range []bool{false, true} {
		for _, refused := range []int{-1, 0, 1, 2, 3} {
			t.Run(fmt.Sprintf("sync=%t/refused=%d", sync, refused), func(t *testing.T) {
				t.Parallel()
				base := t.TempDir()
				dir := filepath.Join(base, "sess")
				rec, err := crashsim.Record(base)
				require.NoError(t, err)
				mkdir(t, base, "sess", &seam.Seam{After: rec.After})
				hooks := &seam.Seam{After: rec.After, Before: refuseSync(refused, rec)}
				var d deeds
				l, err := open(dir, &Options{Sync: sync}, hooks)
				require.NoError(t, err)
				d.do(t, l, rec.Acknowledge)
				require.NoError(t, l.Close())
				tear(t, dir, &seam.Seam{After: rec.After})
				l, err = open(dir, &Options{Sync: sync}, hooks)
				require.NoError(t, err)
				d.do(t, l, rec.Acknowledge)
				require.NoError(t, l.Close())
				require.NoError(t, rec.Verify(nil))
				log, err := rec.Log()
				require.NoError(t, err)
				d.requireStates(t, crashsim.Crash{Log: log, Seed: testenv.Seed(t), Max: limit}, sync)
			})
		}
	}
}

// refuseSync returns what refuses the n-th sync of a file, from 0.
func refuseSync(n int, rec *crashsim.Recorder) func(seam.Op) error {
	return func(op seam.Op) error {
		if op.Kind != seam.Sync {
			return nil
		}
		if n--; n != -1 {
			return nil
		}
		rec.Refused(op)
		return syscall.EIO
	}
}

func (d *deeds) requireStates(t *testing.T, crash crashsim.Crash, sync bool) {
	t.Helper()
	var tally crashsim.Tally
	for state, err := range crash.States(&tally) {
		require.NoError(t, err)
		var want []string
		if sync && state.Acked > 0 {
			want = d.acknowledged[:d.acked[state.Acked-1]]
		}
		dir := t.TempDir()
		require.NoError(t, state.Materialise(dir))
		d.requireGoesOn(t, filepath.Join(dir, "sess"), want, state.String())
		require.NoError(t, os.RemoveAll(dir))
	}
	require.Greater(t, tally.States, 50)
	t.Log(tally)
}
