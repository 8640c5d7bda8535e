package slice_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

var killsFlag = flag.Int("kills", 0, "how many children TestKills kills; 0: 67 with TEST_LONG set, else 6")

func killRounds() int {
	if *killsFlag > 0 {
		return *killsFlag
	}
	return testenv.Share(4, 6, 67)
}

// step is a call that the child makes of the session, over and over.
type step struct {
	name         string
	before, then string // the transcript
	changes      int    // that undo takes back when the call is done; the call makes or takes back one
	do           func(context.Context, *sessionstore.Store) error
}

func steps() []step {
	undo := func(ctx context.Context, st *sessionstore.Store) error {
		_, err := slice.Undo(ctx, st, parentID, "", nil)
		return err
	}
	rename := func(ctx context.Context, st *sessionstore.Store) error {
		_, err := slice.RenameSession(ctx, st, parentID, "named")
		return err
	}
	return []step{
		{"repair", brokenRows, repairedRows, 1, func(ctx context.Context, st *sessionstore.Store) error {
			_, err := slice.RepairSession(ctx, st, parentID)
			return err
		}},
		{"undo repair", repairedRows, brokenRows, 0, undo},
		{"rename", brokenRows, brokenRows, 1, rename},
		{"rewind", brokenRows, firstTwo, 2, func(ctx context.Context, st *sessionstore.Store) error {
			_, err := slice.RewindSession(ctx, st, parentID)
			return err
		}},
		{"undo rewind", firstTwo, brokenRows, 1, undo},
		{"redo rewind", brokenRows, firstTwo, 2, func(ctx context.Context, st *sessionstore.Store) error {
			_, err := slice.Redo(ctx, st, parentID)
			return err
		}},
		{"undo rewind again", firstTwo, brokenRows, 1, undo},
		{"undo rename", brokenRows, brokenRows, 0, undo},
	}
}

// changeUntilKilled goes round the steps, and forks before each, and tells of
// every call before and after it.
func changeUntilKilled(dir, _ string) error {
	ctx := context.Background()
	st, err := core.Open(dir, &sessionstore.Options{Workspace: "/w"}, testenv.KillPoint())
	if err != nil {
		return err
	}
	fmt.Println("ready")
	forks, all := 0, steps()
	for {
		for n, s := range all {
			if forks++; s.before == brokenRows {
				fmt.Println("fork", forks)
				if _, err := slice.Fork(ctx, st, parentID, &slice.ForkOptions{Events: true, NewID: fmt.Sprint("fork-", forks), Turn: new(2)}); err != nil {
					return err
				}
				fmt.Println("forked", forks)
			}
			fmt.Println("begin", n)
			if err := s.do(ctx, st); err != nil {
				return err
			}
			fmt.Println("done", n)
		}
	}
}

// TestKills kills a child that changes a session, again and again. The session
// is what it was before or after the call that was under way, and copies are
// whole and there before the change; forks are whole or not there.
func TestKills(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	calls, open := 0, 0
	v := testenv.Victim{
		Name: "changes", Rounds: killRounds(), Operations: 131, First: 60,
		Within: 250 * time.Millisecond, Acknowledges: func(line string) bool { return strings.HasPrefix(line, "done ") },
	}
	for round := range v.Rounds {
		k := &killed{dir: filepath.Join(t.TempDir(), "sessions"), step: -1}
		st := openStore(t, k.dir)
		broken(t, st)
		require.NoError(t, st.Close())
		v.Dir = k.dir
		v.Kill(t, round, r, func(line string) { k.hear(t, line) })
		k.check(t)
		calls += k.calls
		if k.pending {
			open++
		}
	}
	fmt.Printf("%s: %d calls, %d rounds killed inside of one\n", t.Name(), calls, open)
	require.Positive(t, calls)
}

// killed is what a child told before it was killed.
type killed struct {
	dir          string
	calls        int
	step         int  // the last that was begun; -1: none
	pending      bool // it was not done
	fork, forked int  // the last that was begun and done
}

// hear takes a line of the child.
func (k *killed) hear(t *testing.T, line string) {
	t.Helper()
	if line == "ready" {
		return
	}
	var n int
	var what string
	_, err := fmt.Sscan(line, &what, &n)
	require.NoError(t, err, line)
	switch what {
	case "fork":
		k.fork = n
	case "forked":
		k.forked = n
	case "begin":
		k.step, k.pending = n, true
	case "done":
		k.pending = false
		k.calls++
	}
}

func (k *killed) check(t *testing.T) {
	t.Helper()
	lost := testenv.Lost(t)
	f := findAll(t, k.dir)
	main := f.parent[transcriptFile]
	require.Equal(lost, main, f.rows, "the main file is what counts")
	s := step{then: brokenRows}
	if k.step >= 0 {
		s = steps()[k.step]
	}
	if k.pending {
		require.Contains(lost, []string{s.before, s.then}, main, s.name)
	} else {
		require.Equal(lost, s.then, main, s.name)
	}
	kept := map[string]bool{}
	for name, data := range f.parent {
		switch {
		case strings.HasPrefix(name, transcriptFile+".bak-"):
			require.Contains(lost, []string{brokenRows, repairedRows, firstTwo}, data, name)
			kept[data] = true
		case strings.HasPrefix(name, eventsFile):
			require.Contains(lost, []string{allEvents, twoEvents}, data, name)
		}
	}
	if main != brokenRows {
		require.True(lost, kept[brokenRows], "what was there is kept")
	}
	k.checkForks(t)
	k.checkPosition(t, s)
}

// checkPosition takes all changes back: a call that was under way counts whole or not at all.
func (k *killed) checkPosition(t *testing.T, s step) {
	t.Helper()
	st := openStore(t, k.dir)
	undo, _, err := slice.Steps(t.Context(), st, parentID)
	require.NoError(t, err)
	before := s.changes + 1
	if !strings.HasPrefix(s.name, "undo") {
		before = s.changes - 1
	}
	if k.pending {
		require.Contains(t, []int{before, s.changes}, len(undo), s.name)
	} else {
		require.Len(t, undo, s.changes, s.name)
	}
	files := get(t, st, parentID)
	for range undo {
		_, err := slice.Undo(t.Context(), st, parentID, "", nil)
		require.NoError(t, err, s.name)
	}
	require.Equal(testenv.Lost(t), brokenRows, get(t, st, parentID)[transcriptFile])
	require.Equal(testenv.Lost(t), allEvents, get(t, st, parentID)[eventsFile], s.name)
	md, err := st.Metadata(t.Context(), parentID)
	require.NoError(t, err)
	require.Empty(t, md.Text("name"))
	for range undo {
		_, err := slice.Redo(t.Context(), st, parentID)
		require.NoError(t, err, s.name)
	}
	require.Equal(testenv.Lost(t), files[transcriptFile], get(t, st, parentID)[transcriptFile])
}

// checkForks looks at every session that is no parent.
func (k *killed) checkForks(t *testing.T) {
	t.Helper()
	lost := testenv.Lost(t)
	for id, files := range filesBelow(t, k.dir) {
		var n int
		if _, err := fmt.Sscanf(id, "fork-%d", &n); err != nil {
			require.Equal(t, parentID, id)
			continue
		}
		require.LessOrEqual(t, n, k.fork, "it was never begun")
		require.Len(lost, files, 3, id)
		require.Equal(lost, firstTwo, files[transcriptFile])
		require.Equal(lost, renamed(twoEvents, id), files[eventsFile])
		md, err := sessionstore.ParseMetadata([]byte(files[metadataFile]))
		require.NoError(lost, err)
		require.Equal(lost, id, md.Text("session_id"))
		require.Equal(lost, "/w", md.Text("working_dir"))
	}
	if k.forked > 0 {
		require.DirExists(lost, filepath.Join(k.dir, fmt.Sprint("fork-", k.forked)))
	}
}
