package crashsim

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	before = "one\n"
	after  = "one\ntwo\n"
)

// savers are ways of saving after where before was. Of a right one, either is
// found until it is acknowledged, and only after from then on.
var savers = []struct {
	name  string
	save  func(hand) error
	early string // a wrong content that a cut during the save leaves
	late  string // a wrong content that a cut after the acknowledgement leaves
}{
	{
		name: "rewrite",
		save: func(h hand) error {
			return script(
				func() error { return h.create("s/tmp") },
				func() error { return h.write("s/tmp", 0, after) },
				func() error { return h.sync("s/tmp") },
				func() error { return h.rename("s/tmp", "s/main") },
				func() error { return h.syncDir("s") },
			)
		},
	},
	{
		name: "append to the backup and exchange",
		save: func(h hand) error {
			return script(
				func() error { return h.write("s/backup", int64(len(before)), after[len(before):]) },
				func() error { return h.sync("s/backup") },
				func() error { return h.exchange("s/main", "s/backup") },
				func() error { return h.syncDir("s") },
			)
		},
	},
	{
		name: "truncate and write in place",
		save: func(h hand) error {
			return script(
				func() error { return h.truncate("s/main", 0) },
				func() error { return h.write("s/main", 0, after) },
				func() error { return h.sync("s/main") },
			)
		},
		early: "one\nt",
	},
	{
		name: "write without sync",
		save: func(h hand) error { return h.write("s/main", 4, after[4:]) },
		late: "one\n\x00\x00\x00\x00",
	},
	{
		name: "rename without sync of the file",
		save: func(h hand) error {
			return script(
				func() error { return h.create("s/tmp") },
				func() error { return h.write("s/tmp", 0, after) },
				func() error { return h.rename("s/tmp", "s/main") },
				func() error { return h.syncDir("s") },
			)
		},
		early: "on",
		late:  "on",
	},
	{ // ext4 keeps the content of a file that is renamed over another, but not of these two
		name: "exchange without sync of a new file",
		save: func(h hand) error {
			return script(
				func() error { return h.create("s/tmp") },
				func() error { return h.write("s/tmp", 0, after) },
				func() error { return h.exchange("s/tmp", "s/main") },
				func() error { return h.syncDir("s") },
			)
		},
		early: "on",
		late:  "on",
	},
	{
		name: "append to the backup and exchange without sync of it",
		save: func(h hand) error {
			return script(
				func() error { return h.write("s/backup", int64(len(before)), after[len(before):]) },
				func() error { return h.exchange("s/main", "s/backup") },
				func() error { return h.syncDir("s") },
			)
		},
		early: "one\n\x00\x00\x00\x00",
		late:  "one\n\x00\x00\x00\x00",
	},
	{
		name: "rename without sync of the directory",
		save: func(h hand) error {
			return script(
				func() error { return h.create("s/tmp") },
				func() error { return h.write("s/tmp", 0, after) },
				func() error { return h.sync("s/tmp") },
				func() error { return h.rename("s/tmp", "s/main") },
			)
		},
		late: before,
	},
	{
		name: "sync of the directory before the rename",
		save: func(h hand) error {
			return script(
				func() error { return h.create("s/tmp") },
				func() error { return h.write("s/tmp", 0, after) },
				func() error { return h.sync("s/tmp") },
				func() error { return h.syncDir("s") },
				func() error { return h.rename("s/tmp", "s/main") },
			)
		},
		late: before,
	},
	{
		name: "remove before rename",
		save: func(h hand) error {
			return script(
				func() error { return h.create("s/tmp") },
				func() error { return h.write("s/tmp", 0, after) },
				func() error { return h.sync("s/tmp") },
				func() error { return h.remove("s/main") },
				func() error { return h.rename("s/tmp", "s/main") },
				func() error { return h.syncDir("s") },
			)
		},
		early: "(none)",
	},
	{
		name: "exchange before sync",
		save: func(h hand) error {
			return script(
				func() error { return h.write("s/backup", 4, after[4:]) },
				func() error { return h.exchange("s/main", "s/backup") },
				func() error { return h.sync("s/main") },
				func() error { return h.syncDir("s") },
			)
		},
		early: "one\ntw",
	},
	{
		name: "file in a directory whose name is not synced",
		save: func(h hand) error {
			return script(
				func() error { return h.mkdir("t") },
				func() error { return h.rename("s/main", "t/main") },
				func() error { return h.write("t/main", 4, after[4:]) },
				func() error { return h.sync("t/main") },
				func() error { return h.syncDir("t") },
				func() error { return h.rename("t", "s/t") },
				func() error { return h.link("s/t/main", "s/main") },
			)
		},
		early: "(none)",
		late:  "(none)",
	},
}

func TestCrashFindsLostData(t *testing.T) {
	t.Parallel()
	for _, test := range savers {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, h := record(t, map[string]string{"s/main": before, "s/backup": before})
			require.NoError(t, test.save(h))
			r.Acknowledge()
			early, late := map[string]bool{}, map[string]bool{}
			for _, s := range states(t, r, Crash{}) {
				got := found(s, "s/main")
				switch {
				case s.Acked == 0 && got != before && got != after:
					early[got] = true
				case s.Acked == 1 && got != after:
					late[got] = true
				}
			}
			requireFinds(t, early, test.early)
			requireFinds(t, late, test.late)
		})
	}
}

// requireFinds wants the wrong contents to hold want, or to be none.
func requireFinds(t *testing.T, wrong map[string]bool, want string) {
	t.Helper()
	if want == "" {
		require.Empty(t, wrong)
		return
	}
	require.Contains(t, wrong, want)
}

func TestCrashAppendTornAtEveryByte(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"log": before})
	require.NoError(t, h.write("log", 4, "second\n"))
	got := outcomes(states(t, r, Crash{Seeds: 1}), "log")
	for n := range len("second\n") + 1 {
		require.Contains(t, got, before+"second\n"[:n])
		require.Contains(t, got, before+"second\n"[:n]+strings.Repeat("\x00", len("second\n")-n))
	}
}

func TestCrashLongWriteTornAtItsEdges(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"log": ""})
	lines := strings.Repeat(strings.Repeat("x", 999)+"\n", 10)
	require.NoError(t, h.write("log", 0, lines))
	list := states(t, r, Crash{Tears: 12})
	require.Less(t, len(list), 40)
	got := outcomes(list, "log")
	for _, n := range []int{0, 1, 999, 1000, 4096, 5000, 9999, 10000} {
		require.Contains(t, got, lines[:n], n)
	}
	holes := 0
	for data := range got {
		if end := strings.TrimLeft(data, "\x00"); end != "" && strings.Contains(end, "\x00") && strings.HasSuffix(data, "\n") {
			holes++
		}
	}
	require.NotZero(t, holes, "a later sector without an earlier one")
}

func TestCrashSyncedDataSurvivesLaterWrites(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"log": ""})
	require.NoError(t, script(
		func() error { return h.write("log", 0, "synced\n") },
		func() error { return h.sync("log") },
		func() error { return h.write("log", 7, "later\n") },
	))
	for _, s := range states(t, r, Crash{From: 2}) {
		require.True(t, strings.HasPrefix(found(s, "log"), "synced\n"), s)
	}
}

func TestCrashTimes(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"log": "x"})
	start, err := os.Stat(h.path("log"))
	require.NoError(t, err)
	set := start.ModTime().Add(time.Hour).Truncate(2 * time.Second)
	require.NoError(t, script(
		func() error { return h.chtimes("log", set) },
		func() error { return h.sync("log") },
	))
	seen := map[int][]time.Time{}
	for _, s := range states(t, r, Crash{}) {
		dir := t.TempDir()
		require.NoError(t, s.Materialise(dir))
		info, err := os.Stat(filepath.Join(dir, "log"))
		require.NoError(t, err)
		seen[s.Done] = append(seen[s.Done], info.ModTime())
	}
	require.Len(t, seen[0], 1)
	require.True(t, seen[0][0].Equal(start.ModTime()))
	slices.SortFunc(seen[1], time.Time.Compare)
	require.Len(t, seen[1], 2)
	require.True(t, seen[1][0].Equal(start.ModTime()))
	require.True(t, seen[1][1].Equal(set))
	require.Len(t, seen[2], 1)
	require.True(t, seen[2][0].Equal(set))
}

// A failed sync may have dropped what was written: syncing again, without
// writing again, does not bring it back.
func TestCrashFailedSync(t *testing.T) {
	t.Parallel()
	save := func(h hand, again func(hand) error) error {
		return script(
			func() error { return h.write("log", 4, after[4:]) },
			func() error { return expect(syscall.EIO, h.sync("log")) },
			func() error { return again(h) },
			func() error { return h.sync("log") },
		)
	}
	tests := []struct {
		name  string
		again func(h hand) error
		found []string // some of what may be found; all of it when it is one
	}{
		{"sync again", func(hand) error { return nil }, []string{after, before, "one\ntw", "one\n\x00\x00\x00\x00"}},
		{"write again", func(h hand) error { return h.write("log", 4, after[4:]) }, []string{after}},
		{"write something else", func(h hand) error { return h.write("log", 0, "O") }, []string{"One\ntwo\n", "One\n", "One\ntw"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, h := record(t, map[string]string{"log": before})
			f := &Failer{At: 1, Err: syscall.EIO, Refused: r.Refused}
			h.seam.Before = f.Before
			require.NoError(t, save(h, test.again))
			got := map[string]bool{}
			for _, s := range states(t, r, Crash{From: r.Len()}) {
				got[found(s, "log")] = true
			}
			for _, data := range test.found {
				require.Contains(t, got, data)
			}
			for data := range got {
				require.Equal(t, test.found[0][:4], data[:4], "what was synced well")
			}
			require.Equal(t, len(test.found) > 1, len(got) > 1)
		})
	}
}

// expect returns nil when err is want.
func expect(want, err error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("not the expected error"), err)
}

func TestCrashRemoveAll(t *testing.T) {
	t.Parallel()
	files := map[string]string{"s/main": before, "s/backup": before, "s/sub/log": "x"}
	remove := func(h hand) error {
		return script(func() error { return h.removeAll("s") }, func() error { return h.syncDir(".") })
	}
	aside := func(h hand) error {
		return script(
			func() error { return h.rename("s", "gone") },
			func() error { return h.syncDir(".") },
			func() error { return h.removeAll("gone") },
			func() error { return h.syncDir(".") },
		)
	}
	for name, del := range map[string]func(hand) error{"in place": remove, "renamed first": aside} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, h := record(t, files)
			require.NoError(t, del(h))
			partial := 0
			for _, s := range states(t, r, Crash{}) {
				paths := s.Paths()
				if s.Done == r.Len() {
					require.Empty(t, paths, s)
				}
				if _, err := s.ReadFile("s/main"); err != nil && len(paths) > 0 && strings.HasPrefix(paths[0], "s") {
					partial++
				}
			}
			require.Equal(t, name == "in place", partial > 0)
		})
	}
}
