package sessionstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func assistant(text string) string { return `{"role": "assistant", "content": "` + text + `"}` }

// TestSaveOfAWindow saves what begins with the last messages on disk. That is
// refused where it would lose what a person wrote, and nothing is written.
func TestSaveOfAWindow(t *testing.T) {
	t.Parallel()
	u, a := user, assistant
	system := `{"role": "system", "content": "s"}`
	reminder := `{"role": "user", "content": "<system-reminder>x</system-reminder>"}`
	long := []string{u("first")}
	for range 5000 {
		long = append(long, a("same"))
	}
	tests := []struct {
		name    string
		old     []string
		saved   []string
		refused bool
	}{
		{"a turn behind the last turn", []string{u("1"), a("1"), u("2"), a("2")}, []string{u("2"), a("2"), u("3"), a("3")}, true},
		{"the last turn alone", []string{u("1"), a("1"), u("2"), a("2")}, []string{u("2"), a("2")}, true},
		{"the last message alone", []string{u("1"), a("1")}, []string{a("1")}, true},
		{"with a system prompt", []string{u("1"), a("1"), u("2")}, []string{system, u("2"), a("2")}, true},
		{"many overlaps", long, append(long[1:4:4], u("next")), true},
		{"repeats in it", []string{u("1"), a("x"), a("y"), a("x"), a("y")}, []string{a("x"), a("y"), a("z")}, true},

		{"extended", []string{u("1"), a("1")}, []string{u("1"), a("1"), u("2")}, false},
		{"rewound", []string{u("1"), a("1"), u("2"), a("2")}, []string{u("1"), a("1")}, false},
		{"the last message changed", []string{u("1"), a("1"), u("2")}, []string{u("1"), a("1"), u("3")}, false},
		{"a summary first", []string{u("1"), a("1"), u("2"), a("2")}, []string{a("summary"), u("2"), a("2")}, false},
		{"from the middle", []string{u("1"), a("1"), u("2"), a("2")}, []string{a("1"), u("2"), a("3")}, false},
		{"the first message again", []string{u("1"), a("1"), u("1")}, []string{u("1"), a("2")}, false},
		{"nothing of a person before", []string{a("hello"), reminder, u("1"), a("1")}, []string{u("1"), a("1"), u("2")}, false},
		{"nothing of a person before, and the last prompt is the first", []string{a("hello"), u("1"), a("1"), u("1")}, []string{u("1"), a("1"), u("1")}, false},
		{"nothing of a person before, and the last turn is the first", []string{a("hello"), u("1"), a("1"), u("1"), a("1")}, []string{u("1"), a("1"), u("1"), a("1"), u("2")}, false},
		{"emptied", []string{u("1"), a("1")}, nil, false},
		{"another one", []string{u("1"), a("1")}, []string{u("2")}, false},
	}
	for _, tt := range tests {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, again), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				st := open(t, dir, nil)
				require.NoError(t, st.Save(t.Context(), "s", parse(t, tt.old...), sessionstore.Metadata{}))
				require.NoError(t, st.Save(t.Context(), "s", parse(t, tt.old...), metadata(t, `{"n": 1}`)))
				if again { // by another program
					st = open(t, dir, nil)
				}
				before := tree(t, dir)
				err := st.Save(t.Context(), "s", parse(t, tt.saved...), metadata(t, `{"n": 2}`))
				if !tt.refused {
					require.NoError(t, err)
					return
				}
				require.ErrorIs(t, err, sessionstore.ErrWindow)
				require.ErrorContains(t, err, "Append")
				require.ErrorContains(t, err, "Replace")
				require.Equal(t, before, tree(t, dir))

				revision, err := st.Revision(t.Context(), "s")
				require.NoError(t, err)
				_, err = st.Replace(t.Context(), "s", revision, parse(t, tt.saved...))
				require.NoError(t, err, "that is the way on")
			})
		}
	}
}

// TestSaveOfAWindowOfDamage has no sound transcript: what is left may be saved.
func TestSaveOfAWindowOfDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st := open(t, dir, nil)
	rows := []string{user("1"), assistant("1"), user("2")}
	require.NoError(t, st.Append(t.Context(), "s", parse(t, rows...)...))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "s", transcriptFile), []byte(strings.Join(rows, "\n")+"\n{"), 0o600))
	require.NoError(t, st.Save(t.Context(), "s", parse(t, user("2"), assistant("2")), sessionstore.Metadata{}))
}
