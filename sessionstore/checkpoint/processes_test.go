package checkpoint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// decisions is how many each of several processes makes.
const decisions = 25

func decideAsChild(dir, _ string) error {
	s, err := New(nil).Open(dir)
	for i := 0; err == nil && i < decisions; i++ {
		err = decide(context.Background(), s, os.Getpid(), i)
	}
	return err
}

func decide(ctx context.Context, s *Run, pid, n int) error {
	return testenv.Retry(sessionstore.ErrLocked, func() error { return s.Decide(ctx, map[string]int{"pid": pid, "n": n}) })
}

// TestTwoProcesses holds that no process loses another's decisions.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	s := put(t, newStore(t), t.TempDir(), example(t))
	one, two := testenv.Spawn(t, "decide", s.Dir(), ""), testenv.Spawn(t, "decide", s.Dir(), "")
	for i := range decisions {
		require.NoError(t, decide(t.Context(), s, 0, i))
	}
	one.End(t)
	two.End(t)
	raw := onDisk(t, s)
	for i := range decisions {
		require.Equal(t, 3, strings.Count(raw, `"n": `+strconv.Itoa(i)+"\n")+strings.Count(raw, `"n": `+strconv.Itoa(i)+","), "decision %d", i)
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), "*"))
	require.NoError(t, err)
	require.Len(t, names, 3, "the state, its backup and the lock")
}

// liveAsChild lives lives in the directory: it begins a session, or goes on
// with the one it finds, and cleans up. It prints what each call is about to
// do, and again when it is acknowledged.
func liveAsChild(output, _ string) error {
	l := life{output: output, temp: filepath.Join(output, "temp"), seam: testenv.KillPoint()}
	ctx := context.Background()
	for n := 0; ; n++ {
		end := lives[n%len(lives)]
		steps := append(beginning[:len(beginning):len(beginning)], end.steps...)
		if _, err := l.store(0).Open(l.dir()); err == nil {
			steps = steps[1:] // another began it
		}
		if err := os.MkdirAll(filepath.Join(l.dir(), "sub", "deep"), 0o700); err != nil {
			return err
		}
		name := fmt.Sprintf("%d.%d", os.Getpid(), n)
		for i, s := range steps {
			fmt.Println("begin", s.name, name, i)
			if err := s.do(ctx, l); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			fmt.Println("end", s.name, name, i)
		}
	}
}

// TestKills kills a process in the midst of the lives of sessions, again and
// again: the state is what was acknowledged last, or what was begun, and the
// next process goes on.
func TestKills(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	output := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(output, "temp"), 0o700))
	ended := 0
	ends := func(line string) bool { return strings.HasPrefix(line, "end ") }
	v := testenv.Victim{
		Name: "live", Dir: output, Rounds: testenv.KillRounds(), Operations: 180, First: 20, Within: 100 * time.Millisecond,
		Acknowledges: ends,
	}
	for round := range v.Rounds {
		last := ""
		v.Kill(t, round, rng, func(line string) {
			last = line
			if ends(line) {
				ended++
			}
		})
		checkLife(t, output, last)
	}
	t.Logf("%d calls acknowledged", ended)
	require.Positive(t, ended)
	l := life{output: output, temp: filepath.Join(output, "temp")}
	require.NoError(t, cleanup(t.Context(), l))
	left, err := filepath.Glob(filepath.Join(output, "*"+removedExt))
	require.NoError(t, err)
	require.Empty(t, left)
}

// checkLife requires that what stands in output fits the last line of a child.
func checkLife(t *testing.T, output, last string) {
	t.Helper()
	lost := testenv.Lost(t)
	word, rest, _ := strings.Cut(last, " ")
	name := rest[:strings.LastIndexByte(rest[:strings.LastIndexByte(rest, ' ')], ' ')]
	s, err := New(nil).Open(filepath.Join(output, primaryName))
	if err != nil {
		require.ErrorIs(lost, err, os.ErrNotExist)
		require.True(lost, name == "create" && word == "begin" || name == "clean up", "there is none after %q", last)
		return
	}
	done, current := s.State().CompletedPhases(), s.State().CurrentPhase()
	if word == "end" {
		switch name {
		case "create":
			require.Equal(lost, Initialized, s.State().Status())
		case "complete":
			require.Equal(lost, Completed, s.State().Status())
		case "rollback":
			require.Equal(lost, 2, current)
			require.NotContains(lost, done, 3)
		case "clean up":
			require.Fail(t, "it is there still")
		}
	}
}
