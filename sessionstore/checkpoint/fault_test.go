package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// A life is what all writers do to one session in an output directory.
type life struct {
	output, temp string
	seam         *seam.Seam
}

// store returns a store whose clock stands at noon, days later.
func (l life) store(days int) *Dir {
	return New(&Options{Now: func() time.Time { return noon.AddDate(0, 0, days) }, TempDir: l.temp, seam: l.seam})
}

func (l life) dir() string { return filepath.Join(l.output, primaryName) }

// step is a call.
type step struct {
	name string
	do   func(ctx context.Context, l life) error
}

func onSession(name string, do func(ctx context.Context, s *Run) error) step {
	return step{name, func(ctx context.Context, l life) error {
		s, err := l.store(0).Open(l.dir())
		if err != nil {
			return err
		}
		return do(ctx, s)
	}}
}

func cleanup(ctx context.Context, l life) error {
	_, err := l.store(4).Cleanup(ctx, l.output, 0)
	return err
}

// beginning is common to the lives.
var beginning = []step{
	{"create", func(ctx context.Context, l life) error {
		_, err := l.store(0).Create(ctx, l.output, Setup{Chapters: 3})
		return err
	}},
	onSession("checkpoint", func(ctx context.Context, s *Run) error {
		return s.Checkpoint(ctx, 1, map[string]any{"research_structure": "sub/deep/structure.md"})
	}),
	onSession("decide", func(ctx context.Context, s *Run) error {
		return s.Decide(ctx, map[string]string{"text": strings.Repeat("large ", 300)})
	}),
	onSession("approve", func(ctx context.Context, s *Run) error { return s.Approve(ctx, 3, Approval{}) }),
	onSession("checkpoint", func(ctx context.Context, s *Run) error { return s.Checkpoint(ctx, 3, nil) }),
	onSession("log", func(ctx context.Context, s *Run) error { return s.LogError(ctx, ErrorEntry{}) }),
	onSession("rollback", func(ctx context.Context, s *Run) error { return s.Rollback(ctx, 2) }),
}

// lives are the ends of the session.
var lives = []struct {
	name  string
	steps []step
}{
	{"archived", []step{{"clean up", cleanup}}},
	{"deleted", []step{
		onSession("complete", func(ctx context.Context, s *Run) error { return s.SetStatus(ctx, Completed) }),
		{"clean up", cleanup},
	}},
}

// sight tells how a session looks, wherever it is.
func sight(t *testing.T, output string, at any) string {
	t.Helper()
	st := New(&Options{TempDir: t.TempDir()})
	text := ""
	for _, ext := range []string{"", ".archive"} {
		dir := filepath.Join(output, primaryName) + ext
		s, err := st.read(dir)
		if err != nil {
			require.ErrorIs(t, err, os.ErrNotExist, at)
			continue
		}
		decisions := strings.Count(string(memberOr(s.raw, "user_decisions", "[]")), "timestamp")
		failures := strings.Count(string(memberOr(s.raw, "errors", "[]")), "timestamp")
		gates := string(pyjson.Trim(memberOr(s.raw, "user_approvals", "{}")))
		text += fmt.Sprint(ext, s.Status(), s.CurrentPhase(), s.CompletedPhases(), s.Outputs(1), decisions, failures, len(gates))
	}
	return text
}

// requireOutput requires that the output is there, in one of the directories.
func requireOutput(t *testing.T, output string, at any) {
	t.Helper()
	for _, dir := range []string{"", primaryName, primaryName + ".archive"} {
		data, err := os.ReadFile(filepath.Join(output, dir, "sub", "deep", "structure.md"))
		if err == nil && string(data) == "x" {
			return
		}
	}
	require.Fail(testenv.Lost(t), "the output is lost", at)
}

// newLife begins a life, with the file that it will call its output.
func newLife(t *testing.T) life {
	l := life{output: t.TempDir(), temp: t.TempDir(), seam: &seam.Seam{}}
	touch(t, l.dir(), "sub", "deep", "structure.md")
	return l
}

// TestFailures fails every operation of all writers: a session is as before
// the call or after it, and the same call works afterwards.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, life := range lives {
		t.Run(life.name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			for _, s := range append(beginning[:len(beginning):len(beginning)], life.steps...) {
				step := testenv.Share(3, 3, 1)
				for at := testenv.Rand(t).IntN(step); failAt(t, l, s, at); at += step {
				}
				require.NoError(t, s.do(t.Context(), l), s.name)
			}
		})
	}
}

// failAt fails one operation of a call on a copy of a life, and reports
// whether there was one.
func failAt(t *testing.T, was life, s step, at int) bool {
	t.Helper()
	failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: 50}
	l := life{output: t.TempDir(), temp: was.temp, seam: &seam.Seam{Before: failer.Before}}
	require.NoError(t, os.CopyFS(l.output, os.DirFS(was.output)))
	if raw, err := os.ReadFile(filepath.Join(l.dir(), stateFile)); err == nil {
		here := strings.ReplaceAll(string(raw), jsonPath(was.output), jsonPath(l.output))
		require.NoError(t, os.WriteFile(filepath.Join(l.dir(), stateFile), []byte(here), 0o600))
	}
	before := sight(t, l.output, at)
	err := s.do(t.Context(), l)
	op, hit := failer.Failed()
	where := fmt.Sprintf("%s, operation %d: %v %s", s.name, at, op.Kind, op.Name)
	found := sight(t, l.output, where)
	requireOutput(t, l.output, where)
	if err == nil {
		require.NotEqual(t, before, found, where)
		return hit
	}
	require.ErrorIs(t, err, syscall.EIO, where)
	require.True(t, hit, where)
	err = s.do(t.Context(), l)
	if s.name == "create" && found != before {
		require.ErrorIs(t, err, os.ErrExist, where)
	} else {
		require.NoError(t, err, where)
	}
	requireOutput(t, l.output, where)
	left, err := filepath.Glob(filepath.Join(l.output, primaryName+"*"+removedExt))
	require.NoError(t, err)
	require.Empty(t, left, where)
	return true
}

// jsonPath returns a path as it stands in a state, without quotes.
func jsonPath(path string) string { return strings.Trim(string(pyjson.Quote(path)), `"`) }

// TestPowerCuts looks at states in which a power cut may leave the disk during
// the calls of all writers: each of them is as before the call that was under
// way or after it, and no output is lost.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	limit := testenv.Share(100, 100, testenv.Further(900, 2700))
	for _, life := range lives {
		t.Run(life.name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			rec, err := crashsim.Record(l.output)
			require.NoError(t, err)
			l.seam.After = rec.After
			sights := []string{""}
			steps := append(beginning[:len(beginning):len(beginning)], life.steps...)
			for _, s := range steps {
				require.NoError(t, s.do(t.Context(), l), s.name)
				rec.Acknowledge()
				sights = append(sights, sight(t, l.output, s.name))
			}
			require.NoError(t, rec.Verify(func(path string) bool { return filepath.Ext(path) == ".lock" }))
			log, err := rec.Log()
			require.NoError(t, err)
			var tally crashsim.Tally
			for cut, err := range (&crashsim.Crash{Log: log, Seed: testenv.Seed(t), Max: limit, Tears: 4}).States(&tally) {
				require.NoError(t, err)
				output := filepath.Join(t.TempDir(), "d")
				require.NoError(t, cut.Materialise(output))
				found := sight(t, output, cut)
				require.Contains(t, []string{sights[cut.Acked], sights[min(cut.Acked+1, len(steps))]}, found, cut)
				requireOutput(t, output, cut)
				goOn(t, output, found, cut)
			}
			t.Log(tally)
			require.Greater(t, tally.States, min(100, limit/2))
		})
	}
}

// goOn lets the next process go on with what it finds.
func goOn(t *testing.T, output, found string, at any) {
	t.Helper()
	l := life{output: output, temp: t.TempDir()}
	if found == "" {
		require.NoError(t, beginning[0].do(t.Context(), l), at)
	}
	if !strings.HasPrefix(found, ".archive") {
		require.NoError(t, beginning[2].do(t.Context(), l), at)
		require.NotEqual(t, found, sight(t, output, at), at)
	}
	require.NoError(t, cleanup(t.Context(), l), at)
	requireOutput(t, output, at)
}
