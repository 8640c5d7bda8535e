package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// TestHomeOfNumbered exports threads whose lines Codex numbers, which went on here: the
// exports have no line of Codex. What Codex said behind them comes into the sessions, and
// no other session is made: the lines of Codex that a session was made of stay with it, and
// their usage counts beside the usage of the new lines.
func TestHomeOfNumbered(t *testing.T) {
	t.Parallel()
	live := filepath.Join("testdata", "live", "codex")
	all, err := Find(t.Context(), Codex, &FindOptions{Home: live})
	require.NoError(t, err)
	for _, h := range all {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := openProjects(t)
			report, err := Import(t.Context(), p, h, &Options{Project: "-w"})
			require.NoError(t, err)
			a := newAway(t, p, report.Sessions[0].ID, Codex)
			output := func() (n int64) {
				for u, err := range Usage(t.Context(), p, projects.Query{}) {
					require.NoError(t, err)
					n += u.Output
				}
				return n
			}
			was, sessions, used := unpacked(t, a.st, a.id), len(a.all()), output()
			a.say("here")
			before := a.rows(a.id)
			for n := 1; n <= 2; n++ {
				a.export()
				a.goOn("there")
				done := a.back()
				require.Len(t, done, 1)
				require.Equal(t, Imported{a.id, Conversation, Updated, done[0].Messages}, done[0])
				require.Len(t, a.all(), sessions)
				require.Equal(t, before, a.rows(a.id)[:len(before)])
				require.Equal(t, both("there"), a.said(a.id, done[0].Messages-2))
				require.Equal(t, was, unpacked(t, a.st, a.id))
				require.Equal(t, used+7, output())
				before = a.rows(a.id)
			}
			again, err := Import(t.Context(), p, h, &Options{Project: "-w"})
			require.NoError(t, err)
			for _, s := range again.Sessions {
				require.Equal(t, Unchanged, s.Action)
			}
			require.Len(t, a.all(), sessions)
		})
	}
}

// TestHomeBesideOriginal exports a thread whose lines Codex numbers to the home of Codex
// that still has the file of the thread, under another name. What Codex said behind the
// export comes into the session, and no other session is made.
func TestHomeBesideOriginal(t *testing.T) {
	t.Parallel()
	live := filepath.Join("testdata", "live", "codex")
	all, err := Find(t.Context(), Codex, &FindOptions{Home: live})
	require.NoError(t, err)
	for _, h := range all {
		t.Run(h.ID, func(t *testing.T) {
			t.Parallel()
			p := openProjects(t)
			a := newAway(t, p, h.SessionID(), Codex)
			require.NoError(t, os.CopyFS(a.home, os.DirFS(live)))
			a.run(&Options{Project: "-w"})
			sessions := len(a.all())
			a.say("here")
			before := a.rows(a.id)
			for n := range 2 {
				a.export()
				a.goOn(fmt.Sprint("there", n))
				did := map[Action][]string{}
				for _, s := range a.run(&Options{Project: "-w"}) {
					did[s.Action] = append(did[s.Action], s.ID)
				}
				require.Equal(t, []string{a.id}, did[Updated], did)
				require.Empty(t, did[Created])
				require.Len(t, a.all(), sessions)
				rows := healthy(t, a.st, a.id)
				require.Equal(t, both(fmt.Sprint("there", n)), a.said(a.id, len(rows)-2))
				require.Equal(t, before, a.rows(a.id)[:len(before)])
				before = a.rows(a.id)
				for _, s := range a.run(&Options{Project: "-w"}) {
					require.Equal(t, Unchanged, s.Action)
				}
			}
		})
	}
}
