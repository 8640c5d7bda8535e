package agentstate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// large takes several sectors.
var large = `{"text": "` + strings.Repeat("large ", 500) + `", "role": "user"}`

// A view is what readers find.
type view struct {
	history, commands, limits, kept, value string
	total                                  int64
}

// step is a call and what it changes in a view.
type step struct {
	name  string
	do    func(t *testing.T, s *State) error
	apply func(v *view)
}

var oneCall = json.RawMessage(`{"rm": 1}`)

// steps are all writers.
var steps = []step{
	{"record", func(t *testing.T, s *State) error {
		return s.RecordItems(t.Context(), items(`{"a": 1, "type": "x"}`)...)
	}, func(v *view) { v.history += "a" }},
	{"record two", func(t *testing.T, s *State) error {
		return s.RecordItems(t.Context(), items(large, `{"b": 1, "type": "x"}`)...)
	}, func(v *view) { v.history += "tb" }},
	{"approve", func(t *testing.T, s *State) error { return s.AddApprovedCommand(t.Context(), "x") }, func(v *view) { v.commands += "x" }},
	{"tokens", func(t *testing.T, s *State) error { return s.AddTokenUsage(t.Context(), 5) }, func(v *view) { v.total += 5 }},
	{"keep", func(t *testing.T, s *State) error { return s.KeepPending(t.Context(), "1", oneCall) }, func(v *view) { v.kept = "pending" }},
	{"token info", func(t *testing.T, s *State) error {
		return s.SetTokenInfo(t.Context(), json.RawMessage(`{"total": 100}`))
	}, func(v *view) { v.total = 100 }},
	{"limits", func(t *testing.T, s *State) error { return s.SetRateLimits(t.Context(), json.RawMessage(`{"x": 1}`)) }, func(v *view) { v.limits = `{"x": 1}` }},
	{"value", func(t *testing.T, s *State) error { return s.SetValue(t.Context(), "own", json.RawMessage(large)) }, func(v *view) { v.value = large }},
	{"decide", func(t *testing.T, s *State) error { return s.Decide(t.Context(), "1", Approved) }, func(v *view) { v.kept = "approved" }},
	{"claim", func(t *testing.T, s *State) error { return s.Claim(t.Context(), "1", oneCall) }, func(v *view) { v.kept = "ran" }},
	{"claim decided", func(t *testing.T, s *State) error { return s.ClaimDecided(t.Context(), "2", oneCall, Approved) }, func(v *view) { v.kept += "ran" }},
}

// after returns the view after a call.
func (s step) after(v view) view {
	s.apply(&v)
	return v
}

// viewOf returns what readers find; it requires that to be whole.
func viewOf(t *testing.T, s *State, at any) view {
	t.Helper()
	v := view{}
	history, err := s.History(t.Context())
	require.NoError(t, err, at)
	for _, item := range history {
		v.history += string(item[2]) // the first letter of its first member
		require.True(t, len(item) < 30 || string(item) == large, at)
	}
	raw, err := s.object(t.Context())
	require.NoError(t, err, at)
	list, err := s.ApprovedCommands(t.Context())
	require.NoError(t, err, at)
	v.commands = strings.Join(list, "")
	v.limits = string(member(raw, "latestRateLimits"))
	info, err := s.TokenInfo(t.Context())
	require.NoError(t, err, at)
	v.total = info.Total
	value, err := s.Value(t.Context(), "own")
	require.NoError(t, err, at)
	v.value = string(value)
	kept, err := s.Approvals(t.Context())
	require.NoError(t, err, at)
	for _, k := range kept {
		v.kept += string(k.Verdict)
	}
	return v
}

// requireBetween requires that found is what was there before a call or after
// it. Of several items the first may be found: they were one write each.
func requireBetween(t *testing.T, before, after, found view, at any) {
	t.Helper()
	lost := testenv.Lost(t)
	require.True(lost, strings.HasPrefix(found.history, before.history) && strings.HasPrefix(after.history, found.history), "%v: %q", at, found.history)
	found.history = before.history
	if before.history != after.history {
		after.history = before.history
	}
	require.Contains(lost, []view{before, after}, found, at)
}

// TestFailures fails every operation of all writers: what was acknowledged is
// found, what was refused is found whole or not at all, and the calls after it
// succeed.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, part := range []int{0, 50, 100} {
		t.Run(fmt.Sprintf("part=%d", part), func(t *testing.T) {
			t.Parallel()
			step := testenv.Share(6, 6, 1)
			for at := testenv.Rand(t).IntN(step); failAt(t, at, part); at += step {
			}
		})
	}
}

// failAt fails one operation, and reports whether there was one.
func failAt(t *testing.T, at, part int) bool {
	failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: part}
	hooks := &seam.Seam{}
	st := newStore(t, hooks)
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	hooks.Before = failer.Before
	v := view{}
	for _, step := range steps {
		_, before := failer.Failed()
		err := step.do(t, s)
		op, hit := failer.Failed()
		where := fmt.Sprintf("%s, operation %d: %v %s", step.name, at, op.Kind, op.Name)
		if err == nil {
			v = step.after(v) // also when another way was found
			require.Equal(t, v, viewOf(t, s, where), where)
			continue
		}
		require.ErrorIs(t, err, syscall.EIO, where)
		require.True(t, hit && !before, where)
		found := viewOf(t, s, where)
		requireBetween(t, v, step.after(v), found, where)
		if v = found; step.after(v) != v {
			require.NoError(t, step.do(t, s), where)
			v = viewOf(t, s, where)
		}
	}
	_, hit := failer.Failed()
	return hit
}

// TestPowerCuts looks at states in which a power cut may leave the disk during
// the calls of all writers: acknowledged ⊆ found ⊆ attempted, and the next
// process goes on.
func TestPowerCuts(t *testing.T) {
	t.Parallel()
	limit := testenv.Share(120, 120, testenv.Further(900, 2700))
	hooks := &seam.Seam{}
	st := newStore(t, hooks)
	rec, err := crashsim.Record(st.Dir())
	require.NoError(t, err)
	hooks.After = rec.After
	s, err := Open(st, id, nil)
	require.NoError(t, err)
	views := []view{{}}
	for _, step := range steps {
		require.NoError(t, step.do(t, s))
		rec.Acknowledge()
		views = append(views, step.after(views[len(views)-1]))
	}
	require.NoError(t, rec.Verify(func(path string) bool { return filepath.Ext(path) == ".lock" }))
	log, err := rec.Log()
	require.NoError(t, err)
	var tally crashsim.Tally
	for cut, err := range (&crashsim.Crash{Log: log, Seed: testenv.Seed(t), Max: limit, Tears: 8}).States(&tally) {
		require.NoError(t, err)
		checkCut(t, cut, views[cut.Acked], views[min(cut.Acked+1, len(steps))])
	}
	t.Log(tally)
	require.Greater(t, tally.States, min(200, limit/2))
}

func checkCut(t *testing.T, cut *crashsim.State, before, after view) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	require.NoError(t, cut.Materialise(dir))
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	s, err := Open(st, id, nil)
	require.NoError(t, err, cut)
	v := viewOf(t, s, cut)
	requireBetween(t, before, after, v, cut)
	for _, step := range []step{steps[0], steps[2], steps[3]} {
		if step.name != "approve" || v.commands == "" {
			require.NoError(t, step.do(t, s), cut)
			v = step.after(v)
		}
	}
	require.Equal(t, v, viewOf(t, s, cut), cut)
	require.NoError(t, st.Close())
}
