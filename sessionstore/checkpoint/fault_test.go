package checkpoint

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/fault"
)

// TestEveryFault fails each operation of a checkpoint in turn: the state is
// the old or the new one, and a checkpoint that is acknowledged is there.
func TestEveryFault(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for k := 0; ; k++ {
		st := newStore(t)
		s := put(t, st, t.TempDir(), example(t))
		failer := &fault.Failer{At: k, Err: broken, Part: 50}
		st.opts.seam = &fault.Seam{Before: failer.Before}
		err := s.Checkpoint(t.Context(), 4, map[string]any{"notebook_review": "n.md"})
		st.opts.seam = nil
		again, oerr := st.Open(s.Dir())
		require.NoError(t, oerr)
		require.False(t, again.State().Recovered)
		_, failed := failer.Failed()
		if !failed {
			require.NoError(t, err)
			require.Equal(t, 5, again.State().CurrentPhase())
			require.Greater(t, k, 5)
			return
		}
		require.ErrorIs(t, err, broken)
		require.Contains(t, []int{4, 5}, again.State().CurrentPhase())
		require.NoError(t, s.Checkpoint(t.Context(), 4, nil), "it goes on afterwards")
	}
}

const childVariable = "CHECKPOINT_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	s, err := New(nil).Open(dir)
	for i := 0; err == nil && i < decisions; i++ {
		err = s.Decide(context.Background(), map[string]int{"pid": os.Getpid(), "n": i})
	}
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	return 0
}

const decisions = 25

// TestTwoProcesses holds that no process loses another's decisions.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	s := put(t, newStore(t), t.TempDir(), example(t))
	var wg sync.WaitGroup
	outs := make([]string, 2)
	for i := range outs {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+s.Dir())
			if out, err := cmd.CombinedOutput(); err != nil {
				outs[i] = err.Error() + string(out)
			}
		})
	}
	for i := range decisions {
		require.NoError(t, s.Decide(t.Context(), map[string]int{"pid": 0, "n": i}))
	}
	wg.Wait()
	require.Equal(t, []string{"", ""}, outs)
	raw := onDisk(t, s)
	for i := range decisions {
		require.Equal(t, 3, strings.Count(raw, `"n": `+strconv.Itoa(i)+"\n")+strings.Count(raw, `"n": `+strconv.Itoa(i)+","), "decision %d", i)
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), "*"))
	require.NoError(t, err)
	require.Len(t, names, 3, "the state, its backup and the lock")
}
