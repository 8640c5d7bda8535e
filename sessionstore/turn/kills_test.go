package turn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/test/crashsim"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// ranFile is beside the sessions directory. It has a line for each call that ran.
const ranFile = "ran"

// flush writes the draft as a tick does.
func (t *Turn) flush() error {
	t.draft.mu.Lock()
	defer t.draft.mu.Unlock()
	return t.draft.write(nil)
}

// agent answers the prompt of a session, or goes on with the turn that did not end: two calls,
// then an answer in two pieces. It tells what is in the draft.
func agent(ctx context.Context, st *sessionstore.Store, tell func(line string)) error {
	t, err := Resume(ctx, st, id, nil)
	if errors.Is(err, ErrNoTurn) {
		return nil
	}
	if errors.Is(err, sessionstore.ErrNotFound) {
		prompt, failed := sessionstore.Text("user", "ask", time.Unix(0, 0))
		if failed != nil {
			return failed
		}
		t, err = Begin(ctx, st, id, prompt, nil)
	}
	if err != nil {
		return err
	}
	if err = answer(ctx, st, t, tell); err == nil {
		err = t.End(ctx)
	}
	return errors.Join(err, t.Close())
}

func answer(ctx context.Context, st *sessionstore.Store, t *Turn, tell func(line string)) error {
	say := func(piece string) error {
		err := errors.Join(t.Say(piece), t.flush())
		if err == nil {
			tell(piece)
		}
		return err
	}
	s, err := st.Load(ctx, id)
	if err != nil {
		return err
	}
	if len(s.Messages) == 1 {
		row, err := sessionstore.ToolCallMessage("", time.Unix(0, 0), sessionstore.ToolCall{ID: "c1", Name: "bash"}, sessionstore.ToolCall{ID: "c2", Name: "bash"})
		if err := errors.Join(err, say("let me ")); err != nil {
			return err
		}
		if err := t.Step(ctx, row); err != nil {
			return err
		}
	}
	open, err := t.Calls(ctx)
	for _, c := range open {
		_, failed := t.Call(ctx, c, func(ctx context.Context, c sessionstore.ToolCall) (sessionstore.Message, error) {
			if err := note(filepath.Join(st.Dir(), "..", ranFile), c.ID); err != nil {
				return sessionstore.Message{}, err
			}
			return result(ctx, c)
		})
		err = errors.Join(err, failed)
	}
	for _, piece := range []string{"half ", "whole"} {
		if err == nil {
			err = say(piece)
		}
	}
	return err
}

// note adds a line to a file.
func note(path, line string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// agentAsChild is agent in a process that a kill may end.
func agentAsChild(dir, _ string) error {
	st, err := core.Open(dir, nil, testenv.KillPoint())
	if err != nil {
		return err
	}
	err = agent(context.Background(), st, func(line string) { fmt.Println(line) })
	return errors.Join(err, st.Close())
}

// holdAsChild begins a turn of the session that the argument names, and keeps it.
func holdAsChild(dir, id string) error {
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	prompt, err := sessionstore.Text("user", "ask", time.Unix(0, 0))
	if err != nil {
		return err
	}
	t, err := Begin(context.Background(), st, id, prompt, &Options{Owner: sessionstore.Owner{App: "holder"}})
	if err != nil {
		return err
	}
	if err := errors.Join(t.Say("half"), t.flush()); err != nil {
		return err
	}
	fmt.Println("ready")
	for range testenv.Orders() {
	}
	return nil
}

// TestAnotherProcess has another process run a turn, until it is killed.
func TestAnotherProcess(t *testing.T) {
	t.Parallel()
	for id, why := range map[string]string{"s1": `"holder" runs it`, "s1-0000_agent": "another turn of the session runs"} {
		st := newStore(t, nil)
		child := testenv.Spawn(t, "hold", st.Dir(), id)
		require.Equal(t, "ready", child.Hear(t))
		_, err := Begin(t.Context(), st, id, text(t, "user", "second"), nil)
		require.ErrorIs(t, err, sessionstore.ErrLocked)
		require.ErrorContains(t, err, why)
		require.Equal(t, "half", draftOf(t, st, id).Text, "while it runs")
		child.Kill()
		turn, err := Resume(t.Context(), st, id, nil)
		require.NoError(t, err)
		require.Equal(t, Draft{1, "half", ""}, turn.Draft())
		require.NoError(t, turn.Close())
	}
}

// TestKills kills an agent before each of its operations on the disk, then one that goes on
// somewhere, and has a third go on. Nothing that was said is lost or shown twice, and no call
// runs twice.
func TestKills(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	stride := testenv.Share(15, 9, 1)
	for at := 1 + rng.IntN(stride); ; at += stride {
		dir := filepath.Join(t.TempDir(), "sessions")
		said, killed := testenv.Spawn(t, "agent", dir, "", testenv.KillAt(at)).Killed(t)
		requireDraft(t, dir, said, at)
		if killed {
			said, _ = testenv.Spawn(t, "agent", dir, "", testenv.KillAt(1+rng.IntN(80))).Killed(t)
			requireDraft(t, dir, said, at)
			testenv.Spawn(t, "agent", dir, "").End(t)
		}
		requireAnswered(t, dir, at)
		require.NoFileExists(t, filepath.Join(dir, id, sessiondir.Draft), at)
		if !killed {
			require.Greater(t, at, 30, "operations")
			return
		}
	}
}

// requireDraft requires that the draft has what the agent told of last, unless a row was stored since.
func requireDraft(t *testing.T, dir string, said []string, at any) {
	t.Helper()
	lost := testenv.Lost(t)
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	s, err := st.Load(t.Context(), id)
	if errors.Is(err, sessionstore.ErrNotFound) {
		require.Empty(lost, said, at)
		return
	}
	require.NoError(lost, err, at)
	d, err := ReadDraft(t.Context(), st, id)
	require.NoError(lost, err, at)
	switch text := strings.Join(said, ""); {
	case len(s.Messages) == 5:
		require.Zero(lost, d, at)
	case len(said) == 0:
	case len(s.Messages) == 1:
		require.Equal(lost, Draft{1, text, ""}, d, at)
	case len(s.Messages) == 4:
		text = strings.TrimPrefix(text, "let me ")
		require.True(lost, strings.HasPrefix(d.Text, text), "%v: %q", at, d.Text)
	default:
		require.Zero(lost, d, at)
	}
}

// requireAnswered requires that a turn has ended as it should.
func requireAnswered(t *testing.T, dir string, at any) {
	t.Helper()
	lost := testenv.Lost(t)
	st, err := sessionstore.Open(dir, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	got := rows(t, st)
	require.Len(lost, got, 5, at)
	require.Equal(lost, []string{"u ask", "a ", "a half whole"}, []string{got[0], got[1], got[4]}, at)
	ran, err := os.ReadFile(filepath.Join(dir, "..", ranFile))
	require.True(t, err == nil || os.IsNotExist(err))
	s, err := st.Load(t.Context(), id)
	require.NoError(t, err)
	require.NotEqual(lost, s.Messages[2].ToolCallID(), s.Messages[3].ToolCallID(), at)
	for _, row := range s.Messages[2:4] {
		times := bytes.Count(ran, []byte(row.ToolCallID()+"\n"))
		require.LessOrEqual(lost, times, 1, at)
		if row.Content() != unknownResult {
			require.Equal(lost, "ran", row.Content(), at)
			require.Equal(lost, 1, times, at)
		}
	}
	d, err := ReadDraft(t.Context(), st, id)
	require.NoError(t, err)
	require.Zero(lost, d, at)
}

// TestFailures fails each operation on the disk once, and lets the agent go on.
func TestFailures(t *testing.T) {
	t.Parallel()
	for _, part := range []int{0, 50} {
		stride := testenv.Share(30, 19, 1)
		for at := testenv.Rand(t).IntN(stride); ; at += stride {
			failer := &crashsim.Failer{At: at, Err: syscall.EIO, Part: part}
			dir := filepath.Join(t.TempDir(), "sessions")
			st, err := core.Open(dir, nil, &seam.Seam{Before: failer.Before})
			if err != nil {
				continue
			}
			for tries, last := 0, error(nil); ; tries++ {
				require.Less(t, tries, 3, "%d: %v", at, last)
				if last = agent(t.Context(), st, func(string) {}); last == nil {
					break
				}
			}
			require.NoError(t, st.Close())
			requireAnswered(t, dir, at)
			if _, failed := failer.Failed(); !failed {
				break
			}
		}
	}
}
