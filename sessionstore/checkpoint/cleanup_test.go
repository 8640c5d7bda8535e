package checkpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// old returns the example, a year old, with a status, and with output as its
// output directory.
func old(t *testing.T, output, status string) string {
	raw := strings.ReplaceAll(example(t), "2026-02-04T15", "2025-02-04T15")
	raw = strings.Replace(raw, "/Users/researcher/projects/rnaseq-analysis\"", filepath.ToSlash(output)+"\"", 1)
	return strings.Replace(raw, `"in_progress"`, `"`+status+`"`, 1)
}

func TestCleanupDeletesCompletedAndKeepsOutputs(t *testing.T) {
	t.Parallel()
	st, output := newStore(t), t.TempDir()
	raw := strings.Replace(old(t, output, "completed"), `"chapter1-notebook-plans.md"`, `"sub/chapter1.md"`, 1)
	s := put(t, st, output, raw)
	touch(t, output, "structure-review-report.md")
	touch(t, s.Dir(), "research-structure.md")
	touch(t, s.Dir(), "sub", "chapter1.md")

	plan, err := st.Plan(t.Context(), output, 0)
	require.NoError(t, err)
	require.Len(t, plan.Items, 1)
	require.Equal(t, Delete, plan.Items[0].Action)
	require.Equal(t, []string{"research-structure.md", filepath.Join("sub", "chapter1.md")}, plan.Items[0].Moves)
	require.DirExists(t, s.Dir(), "a plan touches nothing")

	done, err := st.Cleanup(t.Context(), output, 0)
	require.NoError(t, err)
	require.Equal(t, plan, done)
	require.NoDirExists(t, s.Dir())
	for _, name := range []string{"structure-review-report.md", "research-structure.md", "sub/chapter1.md"} {
		require.FileExists(t, filepath.Join(output, name))
	}
	require.Error(t, s.SetStatus(t.Context(), Aborted))
}

func TestCleanupKeepsWhatItCannotMoveOut(t *testing.T) {
	t.Parallel()
	for name, elsewhere := range map[string]bool{"output directory elsewhere": true, "namesake": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, output := newStore(t), t.TempDir()
			target := output
			if elsewhere {
				target = t.TempDir()
			} else {
				touch(t, output, "research-structure.md")
			}
			s := put(t, st, output, old(t, target, "completed"))
			touch(t, s.Dir(), "research-structure.md")
			done, err := st.Cleanup(t.Context(), output, 0)
			require.NoError(t, err)
			require.Equal(t, Keep, done.Items[0].Action)
			require.Equal(t, s.Dir(), done.Items[0].Dir)
			require.Error(t, done.Items[0].Err)
			require.FileExists(t, filepath.Join(s.Dir(), "research-structure.md"))
			require.FileExists(t, filepath.Join(s.Dir(), stateFile))
			require.Empty(t, done.Prompt())
		})
	}
}

func TestCleanupArchivesUnfinished(t *testing.T) {
	t.Parallel()
	st, output := newStore(t), t.TempDir()
	for _, want := range []string{".archive", ".archive.2", ".archive.3"} {
		s := put(t, st, output, old(t, output, "interrupted"))
		done, err := st.Cleanup(t.Context(), output, 0)
		require.NoError(t, err)
		require.Equal(t, s.Dir()+want, done.Items[0].To)
		require.NoDirExists(t, s.Dir())
		require.FileExists(t, filepath.Join(s.Dir()+want, stateFile))
	}
}

func TestCleanupLeavesAlone(t *testing.T) {
	t.Parallel()
	st, output := newStore(t), t.TempDir()
	young := put(t, st, output, example(t))
	bad := filepath.Join(st.opts.TempDir, fallbackPrefix+"bad")
	touch(t, bad, stateFile)
	target := putAt(t, st, filepath.Join(t.TempDir(), "real"), old(t, output, "completed"))
	link := filepath.Join(st.opts.TempDir, fallbackPrefix+"link")
	linked := os.Symlink(target.Dir(), link) == nil
	done, err := st.Cleanup(t.Context(), output, 0)
	require.NoError(t, err)
	require.Empty(t, done.Items)
	require.DirExists(t, young.Dir())
	require.DirExists(t, bad)
	require.DirExists(t, target.Dir())
	if linked {
		require.Len(t, done.Unreadable, 2)
	}
}
