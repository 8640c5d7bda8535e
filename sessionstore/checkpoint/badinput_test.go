package checkpoint

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestBadStates has states that are refused, and left as they are.
func TestBadStates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown status", `"in_progress"`, `"paused"`, "/status: unknown value"},
		{"status of a wrong type", `"in_progress"`, `7`, "/status: want string"},
		{"missing member", `"current_phase": 4,`, ``, "/current_phase: missing"},
		{"required member is null", `"current_phase": 4`, `"current_phase": null`, "/current_phase: want integer"},
		{"phase out of range", `"current_phase": 4`, `"current_phase": 8`, "/current_phase: want 0 to 7"},
		{"phase is a fraction", `[0, 1, 2, 3]`, `[0.5]`, "/completed_phases/0: want integer"},
		{"outputs are an array", `"outputs": {`, `"outputs": [], "x": {`, "/outputs: want object"},
		{"older version", `"2.0"`, `"0.9"`, "/version: unknown value"},
		{"future version", `"2.0"`, `"2.2"`, "/version: unknown value"},
		{"version of a wrong type", `"2.0"`, `2.0`, "/version: want string"},
		{"time is none", `"2026-02-04T15:02:45Z"`, `"yesterday"`, "/last_updated: want date-time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, output := newStore(t), t.TempDir()
			s := put(t, st, output, example(t))
			raw := strings.Replace(example(t), c.old, c.new, 1)
			require.NotEqual(t, example(t), raw)
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), stateFile), []byte(raw), 0o600))
			_, err := st.Open(s.Dir())
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, s.SetStatus(t.Context(), Aborted), c.want)
			found, err := st.FindResumable(t.Context(), output, 1e6*time.Hour)
			require.NoError(t, err)
			require.Empty(t, found.Runs)
			require.Len(t, found.Unreadable, 1)
			require.ErrorContains(t, found.Unreadable[0], strconv.Quote(s.Dir()))
			done, err := st.Cleanup(t.Context(), output, time.Nanosecond)
			require.NoError(t, err)
			require.Empty(t, done.Items)
			require.Equal(t, raw, onDisk(t, s))
		})
	}
}

// TestErrorsHoldNoNames has names that are secrets for members that are refused.
func TestErrorsHoldNoNames(t *testing.T) {
	t.Parallel()
	const secret = "ghp_hunter2hunter2hunter2hunter2hunter2"
	st, output := newStore(t), t.TempDir()
	s := put(t, st, output, example(t))
	errs := []error{
		s.Checkpoint(t.Context(), 4, map[string]any{secret: "x"}),
		s.Checkpoint(t.Context(), 4, map[string]any{"analyses": []any{map[string]any{secret: math.NaN()}}}),
		s.Decide(t.Context(), map[string]any{secret: math.NaN()}),
	}
	raw := strings.Replace(example(t), `"biological_context": {`, `"biological_context": {"`+secret+`": 1, `, 1)
	require.NotEqual(t, example(t), raw)
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), stateFile), []byte(raw), 0o600))
	_, err := st.Open(s.Dir())
	require.ErrorContains(t, err, "/user_context/biological_context: ")
	for _, err := range append(errs, err) {
		require.Error(t, err)
		require.NotContains(t, err.Error(), secret)
	}
}

// TestExtraMembers keeps what no version knows, at every level.
func TestExtraMembers(t *testing.T) {
	t.Parallel()
	raw := strings.Replace(example(t), `"status"`, `"ours": {"n": 1.5, "deep": [[{"a": null}]]}, "status"`, 1)
	raw = strings.Replace(raw, `"num_chapters"`, `"own_config": "\u2028", "num_chapters"`, 1)
	raw = strings.Replace(raw, `"notebook_review": null`, `"notebook_review": null, "own_output": [1]`, 1)
	s := put(t, newStore(t), t.TempDir(), raw)
	require.NoError(t, s.Checkpoint(t.Context(), 4, nil))
	require.NoError(t, s.Rollback(t.Context(), 1))
	require.NoError(t, s.Approve(t.Context(), 3, Approval{}))
	compact := strings.Join(strings.Fields(onDisk(t, s)), "")
	for _, want := range []string{`"ours":{"n":1.5,"deep":[[{"a":null}]]}`, `"own_config":"\u2028"`, `"own_output":[1]`} {
		require.Contains(t, compact, want)
	}
}

// TestOversized refuses a state of more than 64 MB, read or written.
func TestOversized(t *testing.T) {
	t.Parallel()
	st := newStore(t)
	s := put(t, st, t.TempDir(), example(t))
	if testenv.Long() { // 64 MB are encoded for it
		err := s.Decide(t.Context(), map[string]string{"text": strings.Repeat("x", maxSize)})
		require.ErrorContains(t, err, "more than 67108864 bytes")
		require.Equal(t, example(t), onDisk(t, s))
	}
	require.NoError(t, os.Truncate(filepath.Join(s.Dir(), stateFile), maxSize+1))
	_, err := st.Open(s.Dir())
	require.ErrorContains(t, err, "at most 67108864 bytes")
}

// TestOutputsThatPointOutside are missing when a session is resumed, and are
// neither moved nor removed when it is cleaned up.
func TestOutputsThatPointOutside(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../outside.md", "a/../../outside.md", "../../etc/passwd"} {
		st, top := newStore(t), t.TempDir()
		output := filepath.Join(top, "out")
		touch(t, output, "x")
		touch(t, top, "outside.md")
		raw := strings.Replace(old(t, output, "interrupted"), `"research-structure.md",`, `"`+path+`",`, 1)
		s := put(t, st, output, raw)
		missing, err := s.Resume(t.Context())
		require.NoError(t, err)
		require.Contains(t, missing, Missing{1, Output{"research_structure", path}})

		s = put(t, st, output, strings.Replace(raw, `"interrupted"`, `"completed"`, 1))
		done, err := st.Cleanup(t.Context(), output, 0)
		require.NoError(t, err)
		require.Empty(t, done.Items[0].Moves)
		require.NoDirExists(t, s.Dir())
		require.FileExists(t, filepath.Join(top, "outside.md"))
	}
}

// TestOutputsByWayOfSymlinks are not moved out of another directory.
func TestOutputsByWayOfSymlinks(t *testing.T) {
	t.Parallel()
	st, output, other := newStore(t), t.TempDir(), t.TempDir()
	s := put(t, st, output, strings.Replace(old(t, output, "completed"), `"research-structure.md",`, `"link/secret.md",`, 1))
	touch(t, other, "secret.md")
	err := os.Symlink(other, filepath.Join(s.Dir(), "link"))
	testenv.Need(t, err == nil, "no symlinks here")
	done, err := st.Cleanup(t.Context(), output, 0)
	require.Error(t, err)
	require.Error(t, done.Items[0].Err)
	require.FileExists(t, filepath.Join(other, "secret.md"))
	require.FileExists(t, filepath.Join(s.Dir(), stateFile), "it is kept")
}

// TestOutputThatIsADirectory keeps the session that it lies in.
func TestOutputThatIsADirectory(t *testing.T) {
	t.Parallel()
	st, output := newStore(t), t.TempDir()
	s := put(t, st, output, old(t, output, "completed"))
	touch(t, s.Dir(), "research-structure.md", "x")
	done, err := st.Cleanup(t.Context(), output, 0)
	require.NoError(t, err)
	require.Equal(t, Keep, done.Items[0].Action)
	require.FileExists(t, filepath.Join(s.Dir(), "research-structure.md", "x"))
}

// TestLockedSession waits for the other writer as long as its context.
func TestLockedSession(t *testing.T) {
	t.Parallel()
	s := put(t, newStore(t), t.TempDir(), example(t))
	root, err := os.OpenRoot(s.Dir())
	require.NoError(t, err)
	defer root.Close()
	lock, err := lock.Try(root, lockFile, 0)
	require.NoError(t, err)
	defer lock.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = s.SetStatus(ctx, Aborted)
	require.ErrorIs(t, err, ctx.Err())
	require.NotErrorIs(t, err, sessionstore.ErrLocked)
	require.Equal(t, example(t), onDisk(t, s))
	_, err = s.parent.Open(s.Dir())
	require.NoError(t, err, "reading waits for nobody")
}

// TestHalfMoved goes on with a clean-up that was killed while it moved an
// output, and with one that was killed while it removed a directory.
func TestHalfMoved(t *testing.T) {
	t.Parallel()
	st, output := newStore(t), t.TempDir()
	s := put(t, st, output, old(t, output, "completed"))
	touch(t, s.Dir(), "research-structure.md")
	require.NoError(t, os.Link(filepath.Join(s.Dir(), "research-structure.md"), filepath.Join(output, "research-structure.md")))
	touch(t, s.Dir()+removedExt, "half")
	fallback := filepath.Join(st.opts.TempDir, fallbackPrefix+"1")
	touch(t, fallback+removedExt, "half")
	touch(t, filepath.Join(st.opts.TempDir, "other"+removedExt), "not ours")
	done, err := st.Cleanup(t.Context(), output, 0)
	require.NoError(t, err)
	require.Equal(t, Delete, done.Items[0].Action)
	require.NoDirExists(t, s.Dir())
	require.NoDirExists(t, s.Dir()+removedExt)
	require.NoDirExists(t, fallback+removedExt)
	require.DirExists(t, filepath.Join(st.opts.TempDir, "other"+removedExt))
	require.FileExists(t, filepath.Join(output, "research-structure.md"))
}
