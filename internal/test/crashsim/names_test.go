package crashsim

import (
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// replayed returns the disk at the end of a recording.
func replayed(t *testing.T, r *Recorder, ordered bool) *disk {
	t.Helper()
	require.NoError(t, r.Verify(nil))
	log, err := r.Log()
	require.NoError(t, err)
	d := log.start.clone()
	d.ordered = ordered
	for _, s := range log.Steps {
		require.NoError(t, d.step(s))
	}
	return d
}

func listing(t tree) []string {
	list := []string{}
	for _, p := range t.places() {
		list = append(list, p.path+"="+strconv.Itoa(p.inode))
	}
	return list
}

func TestSyncDirMakesNamesDurable(t *testing.T) {
	t.Parallel()
	// a is inode 1, a/x 2, b 3, b/y 4.
	files := map[string]string{"a/x": "X", "b/y": "Y"}
	tests := []struct {
		name    string
		do      func(h hand) []error
		durable []string
		ordered bool
		pending int // operations that are not durable
	}{
		{"nothing synced", func(h hand) []error {
			return []error{h.rename("a/x", "a/z")}
		}, []string{"a=1", "a/x=2", "b=3", "b/y=4"}, false, 1},
		{"its own directory", func(h hand) []error {
			return []error{h.rename("a/x", "a/z"), h.syncDir("a")}
		}, []string{"a=1", "a/z=2", "b=3", "b/y=4"}, false, 0},
		{"another directory", func(h hand) []error {
			return []error{h.rename("a/x", "a/z"), h.syncDir("b"), h.syncDir(".")}
		}, []string{"a=1", "a/x=2", "b=3", "b/y=4"}, false, 1},
		{"another directory of an ordered disk", func(h hand) []error {
			return []error{h.rename("a/x", "a/z"), h.sync("b/y")}
		}, []string{"a=1", "a/z=2", "b=3", "b/y=4"}, true, 0},
		{"where it went", func(h hand) []error {
			return []error{h.rename("a/x", "b/x"), h.create("a/later"), h.syncDir("b")}
		}, []string{"a=1", "b=3", "b/x=2", "b/y=4"}, false, 1},
		{"where it came from", func(h hand) []error {
			return []error{h.rename("a/x", "b/y"), h.syncDir("a")}
		}, []string{"a=1", "b=3", "b/y=2"}, false, 0},
		{"what it relies upon", func(h hand) []error {
			return []error{h.create("a/new"), h.rename("a/new", "b/new"), h.syncDir("b")}
		}, []string{"a=1", "a/x=2", "b=3", "b/new=5", "b/y=4"}, false, 0},
		{"what it is called by then", func(h hand) []error {
			return []error{h.rename("a/x", "a/z"), h.rename("a/z", "b/z"), h.syncDir("b")}
		}, []string{"a=1", "b=3", "b/y=4", "b/z=2"}, false, 0},
		{"removed with its content", func(h hand) []error {
			return []error{h.removeAll("a"), h.syncDir(".")}
		}, []string{"b=3", "b/y=4"}, false, 0},
		{"link", func(h hand) []error {
			return []error{h.link("a/x", "b/x"), h.syncDir("a")}
		}, []string{"a=1", "a/x=2", "b=3", "b/y=4"}, false, 1},
		{"name in a directory without a durable name", func(h hand) []error {
			return []error{h.mkdir("c"), h.create("c/new"), h.syncDir("c")}
		}, []string{"a=1", "a/x=2", "b=3", "b/y=4"}, false, 1},
		{"exchange of directories", func(h hand) []error {
			return []error{h.exchange("a", "b"), h.rename("a/y", "a/z"), h.syncDir(".")}
		}, []string{"a=3", "a/y=4", "b=1", "b/x=2"}, false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, h := record(t, files)
			for _, err := range test.do(h) {
				require.NoError(t, err)
			}
			d := replayed(t, r, test.ordered)
			require.Equal(t, test.durable, listing(d.durable))
			require.Len(t, d.moves, test.pending)
		})
	}
}

func TestSurvivedNames(t *testing.T) {
	t.Parallel()
	// backup is inode 1, main 2, tmp 3, the second tmp 4.
	r, h := record(t, map[string]string{"main": "M", "backup": "B"})
	require.NoError(t, script(
		func() error { return h.create("tmp") },
		func() error { return h.rename("tmp", "backup") },
		func() error { return h.exchange("main", "backup") },
		func() error { return h.create("tmp") },
		func() error { return h.rename("tmp", "main") },
	))
	d := replayed(t, r, false)
	tests := map[string][]string{
		"00000": {"backup=1", "main=2"},
		"10000": {"backup=1", "main=2", "tmp=3"},
		"01000": {"backup=1", "main=2"},
		"11000": {"backup=3", "main=2"},
		"11100": {"backup=2", "main=3"},
		"00100": {"backup=1", "main=2"}, // it exchanged other files
		"00001": {"backup=1", "main=2"},
		"10001": {"backup=1", "main=2", "tmp=3"}, // it renamed another tmp
		"00011": {"backup=1", "main=4"},
		"11111": {"backup=2", "main=4"},
	}
	for mask, want := range tests {
		require.Equal(t, want, listing(d.survived(mask)), mask)
	}
	require.Equal(t, []string{"backup=1", "main=2"}, listing(d.durable), "nothing was changed")
	for _, mask := range d.masks(50, rand.New(rand.NewPCG(1, 1))) {
		names := d.survived(mask)
		for _, name := range []string{"main", "backup"} {
			_, ok := names.find(name)
			require.True(t, ok, "%s in %s", name, mask)
		}
	}
}

func TestSurvivedSecondNames(t *testing.T) {
	t.Parallel()
	r, h := record(t, map[string]string{"a": "A"})
	require.NoError(t, script(
		func() error { return h.link("a", "b") },
		func() error { return h.remove("b") },
		func() error { return h.rename("a", "b") },
	))
	d := replayed(t, r, false)
	require.Equal(t, []string{"b=1"}, listing(d.survived("111")))
	require.Equal(t, []string{"b=1"}, listing(d.survived("001")))
	require.Equal(t, []string{"a=1", "b=1"}, listing(d.survived("101")), "a rename between names of one file does nothing")
}

func TestFailedSyncMakesNoNameDurable(t *testing.T) {
	t.Parallel()
	syncs := map[string]func(h hand) error{
		"file":      func(h hand) error { return h.sync("b") },
		"directory": func(h hand) error { return h.syncDir(".") },
	}
	for name, sync := range syncs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, h := record(t, map[string]string{"a": "A"})
			h.seam.Before = (&Failer{At: 1, Err: syscall.EIO, Refused: r.Refused}).Before
			require.NoError(t, h.rename("a", "b"))
			require.ErrorIs(t, sync(h), syscall.EIO)
			require.Equal(t, 2, r.Len())
			for _, ordered := range []bool{false, true} {
				require.Equal(t, []string{"a=1"}, listing(replayed(t, r, ordered).durable))
			}
			require.NoError(t, sync(h))
			require.Equal(t, []string{"b=1"}, listing(replayed(t, r, true).durable))
		})
	}
}

func TestMasks(t *testing.T) {
	t.Parallel()
	r, h := record(t, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	require.Equal(t, []string{""}, replayed(t, r, false).masks(4, rng))
	require.NoError(t, script(
		func() error { return h.mkdir("a") },
		func() error { return h.create("a/x") },
		func() error { return h.create("y") },
	))
	require.Len(t, replayed(t, r, false).masks(0, rng), 8, "every subset of few")
	require.Equal(t, []string{"000", "111", "100", "110"}, replayed(t, r, true).masks(4, rng))
	require.NoError(t, script(
		func() error { return h.create("a/z") },
		func() error { return h.create("z") },
		func() error { return h.create("zz") },
	))
	masks := replayed(t, r, false).masks(3, rng)
	require.Subset(t, masks, []string{
		"000000", "111111", "100000", "110000", "111000", "111100", "111110", // prefixes
		"010000", "111011", // one, all but one
		"010100", "101011", "101000", "111101", // prefixes of one directory, none and all of the other
	})
	require.Less(t, len(masks), 40)
	require.ElementsMatch(t, masks, distinct(masks))
}
