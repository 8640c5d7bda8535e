package checkpoint

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inOutput returns the example with output as its directory, and its files
// except those in without.
func inOutput(t *testing.T, output string, without ...string) string {
	files := []string{"research-structure.md", "structure-review-report.md"}
	for _, n := range []string{"1", "2", "3", "4"} {
		files = append(files, "chapter"+n+"-notebook-plans.md")
	}
	for _, name := range files {
		if !strings.Contains(strings.Join(without, " "), name) {
			touch(t, output, name)
		}
	}
	return strings.Replace(example(t), "/Users/researcher/projects/rnaseq-analysis\"", filepath.ToSlash(output)+"\"", 1)
}

func TestResume(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		without []string
		edit    []string
		missing []Missing
		current int
		done    []int
	}{
		{"all there", nil, nil, nil, 4, []int{0, 1, 2, 3}},
		{"interrupted", nil, []string{`"in_progress"`, `"interrupted"`}, nil, 4, []int{0, 1, 2, 3}},
		{
			"one path of an array",
			[]string{"chapter3-notebook-plans.md"},
			nil,
			[]Missing{{2, Output{"chapter_plans", "chapter3-notebook-plans.md"}}},
			2,
			[]int{0, 1, 3},
		},
		{
			"the smallest of several",
			[]string{"structure-review-report.md", "research-structure.md"},
			nil,
			[]Missing{{1, Output{"research_structure", "research-structure.md"}}, {3, Output{"structure_review", "structure-review-report.md"}}},
			1,
			[]int{0, 2},
		},
		{"null", nil, []string{`[0, 1, 2, 3]`, `[0, 1, 2, 3, 4]`}, []Missing{{4, Output{"notebook_review", ""}}}, 4, []int{0, 1, 2, 3}},
		{
			"leads out", nil,
			[]string{`"research-structure.md",`, `"../../etc/passwd",`},
			[]Missing{{1, Output{"research_structure", "../../etc/passwd"}}},
			1,
			[]int{0, 2, 3},
		},
		{
			"phase 7 has three", nil,
			[]string{`[0, 1, 2, 3]`, `[0, 7]`},
			[]Missing{
				{7, Output{"audience_documents.researcher_plan", ""}},
				{7, Output{"audience_documents.architect_handoff", ""}},
				{7, Output{"audience_documents.engineering_translation", ""}},
			},
			4,
			[]int{0},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			output := t.TempDir()
			raw := inOutput(t, output, c.without...)
			if c.edit != nil {
				require.Contains(t, raw, c.edit[0])
				raw = strings.Replace(raw, c.edit[0], c.edit[1], 1)
			}
			s := put(t, newStore(t), output, raw)
			missing, err := s.Resume(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.missing, missing)
			require.Equal(t, c.current, s.State().CurrentPhase())
			require.Equal(t, c.done, s.State().CompletedPhases())
			require.Equal(t, InProgress, s.State().Status())
		})
	}
}

func TestResumeLooksInTheSessionDirectoryToo(t *testing.T) {
	t.Parallel()
	output := t.TempDir()
	raw := inOutput(t, output, "research-structure.md")
	touch(t, output, DefaultPrimary, "research-structure.md")
	missing, err := put(t, newStore(t), output, raw).Resume(t.Context())
	require.NoError(t, err)
	require.Empty(t, missing)
}

func TestResumeRefuses(t *testing.T) {
	t.Parallel()
	for _, status := range []Status{Initialized, Completed, Aborted, Failed} {
		s := put(t, newStore(t), t.TempDir(), strings.Replace(example(t), `"in_progress"`, `"`+string(status)+`"`, 1))
		_, err := s.Resume(t.Context())
		require.ErrorIs(t, err, ErrNotResumable)
	}
}

func TestFindResumable(t *testing.T) {
	t.Parallel()
	st, output := newStore(t), t.TempDir()
	at := func(age time.Duration, status string) string {
		raw := strings.Replace(example(t), "2026-02-04T15:02:45Z", noon.Add(-age).Format(time.RFC3339), 1)
		return strings.Replace(raw, `"in_progress"`, `"`+status+`"`, 1)
	}
	temp := func(name string) string { return filepath.Join(st.opts.TempDir, DefaultFallback+name) }
	put(t, st, output, at(3*time.Hour, "interrupted"))
	putAt(t, st, temp("1"), at(time.Hour, "in_progress"))
	putAt(t, st, temp("2"), at(73*time.Hour, "in_progress"))
	putAt(t, st, temp("3"), at(time.Hour, "completed"))
	putAt(t, st, temp("4.archive"), at(time.Hour, "in_progress"))
	putAt(t, st, temp("5.archive.2"), at(time.Hour, "in_progress"))
	touch(t, temp("6"), stateFile)
	touch(t, temp("7"), "other")
	found, err := st.FindResumable(t.Context(), output, 0)
	require.NoError(t, err)
	var dirs []string
	for _, s := range found.Sessions {
		dirs = append(dirs, s.Dir())
	}
	require.Equal(t, []string{temp("1"), filepath.Join(output, DefaultPrimary)}, dirs)
	require.Len(t, found.Unreadable, 1)
	require.ErrorContains(t, found.Unreadable[0], DefaultFallback+"6")
	found, err = st.FindResumable(t.Context(), output, 2*time.Hour)
	require.NoError(t, err)
	require.Len(t, found.Sessions, 1)
}
