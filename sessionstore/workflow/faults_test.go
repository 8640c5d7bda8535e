package workflow

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// beginnings are what both logs hold before, by the ends of their last lines.
var beginnings = []struct{ name, messages, phases string }{
	{name: "no log"},
	{"whole log", oldMessage + "\n", oldPhase + "\n"},
	{"torn log", oldMessage + "\n" + `{"id": 2, "role": "user", "con`, oldPhase + "\n" + `{"id": 2, "pha`},
	{"missing LF", oldMessage, oldPhase},
}

const (
	oldMessage = `{"id": 1, "role": "user", "content": "old"}`
	oldPhase   = `{"id": 1, "phase_id": "old", "phase_name": "Old", "status": "completed", "user_input": "in"}`
)

// large takes several sectors.
var large = strings.Repeat("large ", 500)

// A view is what readers find.
type view struct {
	messages string // their contents
	phases   string // ids and statuses
	status   string
}

// step is a call and what it changes in a view.
type step struct {
	name  string
	do    func(t *testing.T, l *Workflow) error
	apply func(v view) view
}

func message(content string) step {
	return step{"add " + content[:1], func(t *testing.T, l *Workflow) error {
		_, err := l.AddMessage(t.Context(), "s", nil, userRole, content)
		return err
	}, func(v view) view {
		v.messages += " " + content[:1]
		return v
	}}
}

func output(phase, status string, text *string) step {
	return step{"save " + phase + " " + status, func(t *testing.T, l *Workflow) error {
		_, err := l.SavePhaseOutput(t.Context(), "s", PhaseOutput{PhaseID: phase, Status: status, Output: text})
		return err
	}, func(v view) view {
		kept := slices.DeleteFunc(strings.Fields(v.phases), func(s string) bool { return strings.HasPrefix(s, phase+":") })
		v.phases = strings.Join(slices.Sorted(slices.Values(append(kept, phase+":"+status))), " ")
		if v.status == "" && !strings.Contains(v.phases, "old") {
			v.status = inProgress
		}
		return v
	}}
}

func status(to string) step {
	return step{"set " + to, func(t *testing.T, l *Workflow) error { return l.SetStatus(t.Context(), "s", to) }, func(v view) view {
		v.status = to
		return v
	}}
}

var steps = []step{
	message("a"),
	output("p", running, nil),
	message("b" + large),
	status(failed),
	output("p", completed, &large),
	message("c"),
	output("q", running, nil),
	status(completed),
}

// begin makes a log of the session s with a beginning, and its view.
func begin(t *testing.T, hooks *seam.Seam, messages, phases string) (*Workflow, *sessionstore.Store, view) {
	t.Helper()
	l, st := logIn(t, t.TempDir(), hooks, `{}`, research)
	v := view{}
	if messages != "" {
		writeFile(t, st, conversationFile, messages)
		writeFile(t, st, phaseFile, phases)
		v = view{messages: " o", phases: "old:completed"}
	}
	return l, st, v
}

// viewOf returns what a fresh reader finds; it requires that to be whole.
func viewOf(t *testing.T, st *sessionstore.Store, at any) view {
	t.Helper()
	l, v := New(st, research), view{}
	messages, err := l.Conversation(t.Context(), "s", nil)
	require.NoError(t, err, at)
	for _, m := range messages {
		require.Contains(t, []string{"old", "a", "b" + large, "c"}, m.Content, at)
		v.messages += " " + m.Content[:1]
	}
	records, err := l.PhaseOutputs(t.Context(), "s")
	require.NoError(t, err, at)
	var phases []string
	for _, r := range records {
		phases = append(phases, r.PhaseID+":"+r.Status)
		require.True(t, r.Output == nil || *r.Output == large, at)
	}
	slices.Sort(phases)
	v.phases = strings.Join(phases, " ")
	md, err := st.Metadata(t.Context(), "s")
	require.NoError(t, err, at)
	v.status = md.Text(statusMember)
	if v.phases != "" && !strings.Contains(v.phases, "old") {
		require.Equal(t, "research", md.Text(manifestMember), at)
	}
	return v
}

// requireBetween requires that of each part of a session is found what it was
// before a call or after it.
func requireBetween(t *testing.T, before, after, found view, at any) {
	t.Helper()
	lost := testenv.Lost(t)
	require.Contains(lost, []string{before.messages, after.messages}, found.messages, at)
	require.Contains(lost, []string{before.phases, after.phases}, found.phases, at)
	require.Contains(lost, []string{before.status, after.status}, found.status, at)
}

// TestFailures fails every operation of all writers: what was acknowledged is
// found, what was refused is found whole or not at all, and the calls after
// it succeed.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, b := range beginnings {
		for _, part := range []int{0, 50, 100} {
			t.Run(fmt.Sprintf("%s part=%d", b.name, part), func(t *testing.T) {
				t.Parallel()
				step := testenv.Share(6, 6, 1)
				for at := testenv.Rand(t).IntN(step); failAt(t, at, part, b.messages, b.phases); at += step {
				}
			})
		}
	}
}

// failAt fails one operation, and reports whether there was one.
func failAt(t *testing.T, at, part int, messages, phases string) bool {
	failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: part}
	hooks := &seam.Seam{}
	l, st, v := begin(t, hooks, messages, phases)
	hooks.Before = failer.Before
	for _, s := range steps {
		_, before := failer.Failed()
		err := s.do(t, l)
		op, hit := failer.Failed()
		where := fmt.Sprintf("%s, operation %d: %v %s", s.name, at, op.Kind, op.Name)
		if err == nil {
			v = s.apply(v) // also when another way was found
			require.Equal(t, v, viewOf(t, st, where), where)
			continue
		}
		require.ErrorIs(t, err, syscall.EIO, where)
		require.True(t, hit && !before, where)
		found := viewOf(t, st, where)
		requireBetween(t, v, s.apply(v), found, where)
		if op.Kind == seam.Write && strings.HasSuffix(op.Name, ".jsonl") {
			require.Equal(t, v.messages+v.phases, found.messages+found.phases, where)
		}
		v = found
	}
	_, hit := failer.Failed()
	return hit
}

// TestPowerCuts looks at states in which a power cut may leave the disk during
// the calls of all writers: acknowledged ⊆ found ⊆ attempted, and the next
// process goes on.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	limit := testenv.Share(60, 60, testenv.Further(400, 1300))
	for _, b := range beginnings {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			hooks := &seam.Seam{}
			l, st, v := begin(t, hooks, b.messages, b.phases)
			rec, err := crashsim.Record(st.Dir())
			require.NoError(t, err)
			hooks.After = rec.After
			views := []view{v}
			for _, s := range steps {
				require.NoError(t, s.do(t, l))
				rec.Acknowledge()
				views = append(views, s.apply(views[len(views)-1]))
			}
			require.NoError(t, rec.Verify(func(path string) bool { return filepath.Ext(path) == ".lock" }))
			log, err := rec.Log()
			require.NoError(t, err)
			var tally crashsim.Tally
			for s, err := range (&crashsim.Crash{Log: log, Seed: testenv.Seed(t), Max: limit, Tears: 8}).States(&tally) {
				require.NoError(t, err)
				after := views[min(s.Acked+1, len(steps))]
				checkCut(t, s, views[s.Acked], after)
			}
			t.Log(tally)
			require.Greater(t, tally.States, min(80, limit/2))
		})
	}
}

func checkCut(t *testing.T, s *crashsim.State, before, after view) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, s.Materialise(dir))
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	v := viewOf(t, st, s)
	requireBetween(t, before, after, v, s)
	l := New(st, research)
	for _, step := range []step{message("c"), output("r", running, nil)} {
		require.NoError(t, step.do(t, l), s)
		v = step.apply(v)
	}
	require.Equal(t, v, viewOf(t, st, s), s)
	require.NoError(t, st.Close())
}
