package checkpoint

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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
	touch(t, output, primaryName, "research-structure.md")
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
	temp := func(name string) string { return filepath.Join(st.opts.TempDir, fallbackPrefix+name) }
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
	for _, s := range found.Runs {
		dirs = append(dirs, s.Dir())
	}
	require.Equal(t, []string{temp("1"), filepath.Join(output, primaryName)}, dirs)
	require.Len(t, found.Unreadable, 1)
	require.ErrorContains(t, found.Unreadable[0], fallbackPrefix+"6")
	found, err = st.FindResumable(t.Context(), output, 2*time.Hour)
	require.NoError(t, err)
	require.Len(t, found.Runs, 1)
}

// TestAges finds and cleans up by the millisecond.
func TestAges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		age         time.Duration
		found, done bool
	}{
		{"younger", maxAgeByDefault - time.Millisecond, true, false},
		{"exactly", maxAgeByDefault, false, false},
		{"older", maxAgeByDefault + time.Millisecond, false, true},
		{"of the future", -time.Hour, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st, output := newStore(t), t.TempDir()
			put(t, st, output, strings.Replace(example(t), "2026-02-04T15:02:45Z", noon.Add(-c.age).Format("2006-01-02T15:04:05.000Z"), 1))
			found, err := st.FindResumable(t.Context(), output, 0)
			require.NoError(t, err)
			require.Equal(t, c.found, len(found.Runs) == 1)
			plan, err := st.Plan(t.Context(), output, 0)
			require.NoError(t, err)
			require.Equal(t, c.done, len(plan.Items) == 1)
		})
	}
}

// TestMovedSession writes to the directory that was opened, whatever the
// state says.
func TestMovedSession(t *testing.T) {
	t.Parallel()
	st, old, moved := newStore(t), t.TempDir(), filepath.Join(t.TempDir(), "moved")
	s, err := st.Create(t.Context(), old, Setup{})
	require.NoError(t, err)
	before := onDisk(t, s)
	require.NoError(t, os.CopyFS(moved, os.DirFS(s.Dir())))
	again, err := st.Open(moved)
	require.NoError(t, err)
	require.NoError(t, again.SetStatus(t.Context(), Aborted))
	require.Equal(t, before, onDisk(t, s))
	require.Contains(t, onDisk(t, again), `"aborted"`)
}

// TestRollbackTable holds which outputs and approvals each phase takes along.
func TestRollbackTable(t *testing.T) {
	t.Parallel()
	members := map[int][]string{
		0: {}, 1: {"research_structure"}, 2: {"chapter_plans"}, 3: {"structure_review"}, 4: {"notebook_review"},
		5: {"analyses", "strategy_overview"}, 6: {"statistical_review", "corrections_manifest"}, 7: {"audience_documents"},
	}
	for target := range 8 {
		t.Run(strconv.Itoa(target), func(t *testing.T) {
			t.Parallel()
			s := put(t, newStore(t), t.TempDir(), example(t))
			for phase := range 8 {
				outputs := map[string]any{}
				for _, name := range members[phase] {
					switch name {
					case "chapter_plans", "analyses":
						outputs[name] = []string{"x"}
					case "audience_documents":
						outputs[name] = map[string]string{"researcher_plan": "x"}
					default:
						outputs[name] = "x"
					}
				}
				require.NoError(t, s.Checkpoint(t.Context(), phase, outputs))
				foreign(t, s, "user_approvals", approvalName(phase), `{"approved": true}`)
			}
			require.NoError(t, s.Rollback(t.Context(), target))
			all := memberOr(s.State().raw, "outputs", "{}")
			for phase, names := range members {
				for _, name := range names {
					v, found := pyjson.Lookup(all, name)
					require.True(t, found, name)
					require.Equal(t, phase >= target, string(v) == "null", name)
				}
				_, approved := pyjson.Lookup(memberOr(s.State().raw, "user_approvals", "{}"), "phase_"+strconv.Itoa(phase))
				require.Equal(t, phase < target, approved, phase)
			}
			require.Len(t, s.State().CompletedPhases(), target)
			require.Equal(t, target, s.State().CurrentPhase())
			require.Equal(t, InProgress, s.State().Status())
		})
	}
}
