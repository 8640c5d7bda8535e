package turn

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, map[string]testenv.Child{"agent": agentAsChild, "hold": holdAsChild})
}

const id = "s1"

// newStore returns a store in a directory of its own.
func newStore(t testing.TB, hooks *seam.Seam) *sessionstore.Store {
	t.Helper()
	st, err := core.Open(filepath.Join(t.TempDir(), "sessions"), nil, hooks)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	return st
}

// again returns another store of the same directory, as another process has.
func again(t testing.TB, st *sessionstore.Store) *sessionstore.Store {
	t.Helper()
	other, err := sessionstore.Open(st.Dir(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	return other
}

func text(t testing.TB, role, content string) sessionstore.Message {
	t.Helper()
	m, err := sessionstore.Text(role, content, time.Unix(0, 0))
	require.NoError(t, err)
	return m
}

// calls returns a row that makes calls.
func calls(t testing.TB, ids ...string) sessionstore.Message {
	t.Helper()
	var list []sessionstore.ToolCall
	for _, id := range ids {
		list = append(list, sessionstore.ToolCall{ID: id, Name: "bash", Arguments: json.RawMessage(`{"command": "` + id + `"}`)})
	}
	m, err := sessionstore.ToolCallMessage("", time.Unix(0, 0), list...)
	require.NoError(t, err)
	return m
}

// result is a Run that answers at once.
func result(_ context.Context, c sessionstore.ToolCall) (sessionstore.Message, error) {
	return sessionstore.ToolResult(c.ID, c.Name, "ran", time.Unix(0, 0))
}

// rows returns the contents of a session, each with the first letter of its role.
func rows(t testing.TB, st *sessionstore.Store) (all []string) {
	t.Helper()
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	for _, m := range s.Messages {
		all = append(all, m.Role()[:1]+" "+m.Content())
	}
	return all
}

func begin(t testing.TB, st *sessionstore.Store, o *Options) *Turn {
	t.Helper()
	turn, err := Begin(t.Context(), st, id, text(t, "user", "ask"), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = turn.Close() })
	return turn
}

func TestTurn(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.Equal(t, []string{"u ask"}, rows(t, st))
	require.NoError(t, turn.Say("let me "))
	require.NoError(t, turn.Say("see"))
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2")))
	open, err := turn.Calls(t.Context())
	require.NoError(t, err)
	require.Len(t, open, 2)
	for _, c := range open {
		_, err := turn.Call(t.Context(), c, result)
		require.NoError(t, err)
	}
	_, err = turn.Call(t.Context(), open[0], result)
	require.ErrorIs(t, err, ErrNoCall)
	require.NoError(t, turn.Think("hm"))
	require.NoError(t, turn.Say("done"))
	require.NoError(t, turn.End(t.Context()))
	require.NoError(t, turn.End(t.Context()))
	require.ErrorIs(t, turn.Say("x"), sessionstore.ErrClosed)
	require.Equal(t, []string{"u ask", "a ", "t ran", "t ran", "a done"}, rows(t, st))
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []string{"hm"}, s.Messages[4].Thinking())
	_, err = Resume(t.Context(), st, id, nil)
	require.ErrorIs(t, err, ErrNoTurn)
}

// TestDraftSurvives closes a turn as a kill does, and reads what was said.
func TestDraftSurvives(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Think("hm"))
	require.NoError(t, turn.Say("half"))
	require.NoError(t, turn.Close())
	d, err := ReadDraft(t.Context(), again(t, st), id)
	require.NoError(t, err)
	require.Equal(t, Draft{1, "half", "hm"}, d)
	fi, err := os.Lstat(filepath.Join(st.Dir(), id, sessiondir.Draft))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), fi.Mode())

	turn, err = Resume(t.Context(), st, id, nil)
	require.NoError(t, err)
	require.Equal(t, d, turn.Draft())
	require.NoError(t, turn.Say(turn.Draft().Text+" and whole"))
	require.NoError(t, turn.End(t.Context()))
	require.Equal(t, []string{"u ask", "a half and whole"}, rows(t, st))
	require.NoFileExists(t, filepath.Join(st.Dir(), id, sessiondir.Draft))
}

// TestClaimedIsNotRepeated resumes after a process that ended in a call.
func TestClaimedIsNotRepeated(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, nil)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1", "c2")))
	open, err := turn.Calls(t.Context())
	require.NoError(t, err)
	func() {
		defer func() { _ = recover() }()
		_, _ = turn.Call(t.Context(), open[0], func(context.Context, sessionstore.ToolCall) (sessionstore.Message, error) { panic("killed") })
	}()
	require.NoError(t, turn.Close())

	turn, err = Resume(t.Context(), again(t, st), id, nil)
	require.NoError(t, err)
	open, err = turn.Calls(t.Context())
	require.NoError(t, err)
	require.Len(t, open, 1)
	require.Equal(t, "c2", open[0].ID)
	_, err = turn.Call(t.Context(), open[0], result)
	require.NoError(t, err)
	require.NoError(t, turn.Close())
	require.Equal(t, []string{"u ask", "a ", "t " + unknownResult, "t ran"}, rows(t, st))
}

func TestApprove(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	verdict, fails := agentstate.Undecided, error(nil)
	o := &Options{Approve: func(ctx context.Context, _ sessionstore.ToolCall) (agentstate.Verdict, error) {
		state, err := agentstate.Open(again(t, st), id, nil)
		require.NoError(t, err)
		seen, err := state.Approvals(ctx)
		require.NoError(t, err)
		require.Len(t, seen, 1)
		require.Equal(t, agentstate.Undecided, seen[0].Verdict, "other programs see what the user is asked")
		return verdict, fails
	}}
	turn := begin(t, st, o)
	require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
	open, err := turn.Calls(t.Context())
	require.NoError(t, err)
	_, err = turn.Call(t.Context(), open[0], nil)
	require.ErrorIs(t, err, agentstate.ErrNotApproved)
	fails = errors.New("no user")
	_, err = turn.Call(t.Context(), open[0], nil)
	require.ErrorIs(t, err, fails)
	verdict, fails = agentstate.Rejected, nil
	row, err := turn.Call(t.Context(), open[0], nil)
	require.NoError(t, err)
	require.Equal(t, rejectedResult, row.Content())
}

// TestReusedIDs has a model that calls each call c1, and a rewind to the same rows.
func TestReusedIDs(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	for range 3 {
		ran := 0
		turn := begin(t, st, nil)
		for range 2 {
			require.NoError(t, turn.Step(t.Context(), calls(t, "c1")))
			_, err := turn.Call(t.Context(), sessionstore.ToolCall{ID: "c1"}, func(ctx context.Context, c sessionstore.ToolCall) (sessionstore.Message, error) {
				ran++
				return result(ctx, c)
			})
			require.NoError(t, err)
		}
		require.NoError(t, turn.End(t.Context()))
		require.Equal(t, 2, ran)
		s, err := st.Load(t.Context(), id)
		require.NoError(t, err)
		_, err = st.Replace(t.Context(), id, s.Revision, s.Messages[:0])
		require.NoError(t, err)
	}
}

func TestOneTurnAtATime(t *testing.T) {
	t.Parallel()
	st := newStore(t, nil)
	turn := begin(t, st, &Options{Owner: sessionstore.Owner{App: "first"}})
	for why, other := range map[string]*sessionstore.Store{"another turn of the session runs": st, `"first" runs it`: again(t, st)} {
		_, err := Begin(t.Context(), other, id, text(t, "user", "second"), nil)
		require.ErrorIs(t, err, sessionstore.ErrLocked)
		require.ErrorContains(t, err, why)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Begin(ended, st, id, text(t, "user", "second"), &Options{Busy: Wait})
	require.ErrorIs(t, err, context.Canceled)
	done := make(chan error)
	go func() {
		second, err := Begin(t.Context(), again(t, st), id, text(t, "user", "second"), &Options{Busy: Wait})
		if err == nil {
			err = second.End(t.Context())
		}
		done <- err
	}()
	require.NoError(t, turn.End(t.Context()))
	require.NoError(t, <-done)
	require.Equal(t, []string{"u ask", "u second"}, rows(t, st))
}
