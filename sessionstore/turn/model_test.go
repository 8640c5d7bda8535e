package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	"github.com/amplifier-go/sessionstorage/slice"
)

// world is what must be in a session. Each row has a number of its own, by which it is known
// after a rewind, although all rows of one kind have the same bytes.
type world struct {
	t     *testing.T
	r     *rand.Rand
	st    *sessionstore.Store
	turn  *Turn // nil: none runs
	next  int
	rows  []modelRow
	undo  [][]modelRow // the rows before each change that can be undone
	draft string       // on the disk
	at    []int        // the numbers of the rows after which it was written
	said  string       // by the turn that runs
	ran   map[[2]int]int
}

// modelRow is a row: u, a with an answer, c with the call c1 and perhaps c2, t.
type modelRow struct {
	kind  byte
	n     int
	calls int
	of    [2]int // the call that a result answers
}

func (w *world) add(kind byte) *modelRow {
	w.next++
	w.undo = nil
	w.rows = append(slices.Clone(w.rows), modelRow{kind: kind, n: w.next})
	return &w.rows[len(w.rows)-1]
}

func numbers(rows []modelRow) (all []int) {
	for _, r := range rows {
		all = append(all, r.n)
	}
	return all
}

// open returns the calls that have no result: those of the last row of the model.
func (w *world) open() (calls [][2]int) {
	answered := map[[2]int]bool{}
	for _, r := range slices.Backward(w.rows) {
		switch r.kind {
		case 't':
			answered[r.of] = true
		case 'u', 'a':
			return nil
		case 'c':
			for c := range r.calls {
				if k := [2]int{r.n, c}; !answered[k] {
					calls = append(calls, k)
				}
			}
			return calls
		}
	}
	return nil
}

// stored adds a row with all that was said; its draft goes.
func (w *world) stored(kind byte) *modelRow {
	w.said, w.draft = "", ""
	return w.add(kind)
}

// step does something at random.
func (w *world) step() {
	t, ctx := w.t, w.t.Context()
	switch op := w.r.IntN(12); {
	case w.turn == nil && op < 4:
		turn, err := Begin(ctx, w.st, id, text(t, "user", "ask"), w.options())
		require.NoError(t, err)
		w.turn = turn
		w.stored('u')
	case w.turn == nil && op < 7:
		w.resume()
	case w.turn == nil && op < 9 && len(w.rows) > 0:
		w.rewind()
	case w.turn == nil && op < 10 && len(w.undo) > 0:
		_, err := slice.Undo(ctx, w.st, id, "", nil)
		require.NoError(t, err)
		w.rows, w.undo = w.undo[len(w.undo)-1], w.undo[:len(w.undo)-1]
	case w.turn == nil && op < 11:
		require.NoError(t, again(t, w.st).Append(ctx, id, text(t, "assistant", "note")))
		w.add('a')
	case w.turn == nil:
		w.st = again(t, w.st)
	case op < 3:
		require.NoError(t, w.turn.Say("x"))
		w.said += "x"
		require.NoError(t, w.turn.flush())
		w.draft, w.at = w.said, numbers(w.rows)
	case op < 5 && len(w.open()) == 0:
		n := 1 + w.r.IntN(2)
		require.NoError(t, w.turn.Step(ctx, calls(t, []string{"c1", "c2"}[:n]...)))
		w.stored('c').calls = n
	case op < 9 && len(w.open()) > 0:
		w.call()
	case op < 10:
		said := w.said
		require.NoError(t, w.turn.End(ctx))
		w.turn = nil
		if said != "" {
			w.stored('a')
		}
	default:
		require.NoError(t, w.turn.Close())
		w.turn = nil
		if w.said != "" {
			w.draft, w.at = w.said, numbers(w.rows)
		}
		w.said = ""
	}
	w.check()
}

// options approve, reject, or decide nothing.
func (w *world) options() *Options {
	return &Options{Approve: func(context.Context, sessionstore.ToolCall) (agentstate.Verdict, error) {
		return []agentstate.Verdict{agentstate.Approved, agentstate.Approved, agentstate.Rejected, agentstate.Undecided}[w.r.IntN(4)], nil
	}}
}

// call calls one of the open calls, and ends as a killed process does at times.
func (w *world) call() {
	t, open := w.t, w.open()
	c := open[w.r.IntN(len(open))]
	kill := w.r.IntN(3) == 0
	ran := false
	err := func() (err error) {
		defer func() {
			if recover() != nil {
				err = context.Canceled
			}
		}()
		_, err = w.turn.Call(t.Context(), sessionstore.ToolCall{ID: fmt.Sprint("c", c[1]+1)}, func(ctx context.Context, call sessionstore.ToolCall) (sessionstore.Message, error) {
			ran = true
			w.ran[c]++
			require.Equal(testenv.Lost(t), 1, w.ran[c], "it ran before")
			if kill {
				panic("killed")
			}
			return result(ctx, call)
		})
		return err
	}()
	switch {
	case errors.Is(err, context.Canceled):
		require.True(t, ran && kill)
		require.NoError(t, w.turn.Close())
		w.turn = nil
		if w.said != "" {
			w.draft, w.at = w.said, numbers(w.rows)
		}
		w.said = ""
	case errors.Is(err, agentstate.ErrNotApproved):
		require.False(t, ran)
	default:
		require.NoError(t, err)
		draft := cmp.Or(w.said, w.valid()) // it goes on after the result
		w.add('t').of = c
		if draft != "" {
			w.draft, w.at = draft, numbers(w.rows)
		}
	}
}

// resume goes on with a turn, if one did not end.
func (w *world) resume() {
	t := w.t
	draft := w.valid()
	w.draft = draft // another one goes
	turn, err := Resume(t.Context(), w.st, id, w.options())
	if last := len(w.rows) - 1; last < 0 || w.rows[last].kind == 'a' && draft == "" || !slices.ContainsFunc(w.rows, func(r modelRow) bool { return r.kind == 'u' }) {
		require.True(t, errors.Is(err, ErrNoTurn) || errors.Is(err, sessionstore.ErrNotFound), err)
		return
	}
	require.NoError(t, err)
	require.Equal(testenv.Lost(t), draft, turn.Draft().Text)
	w.turn, w.said = turn, ""
	for _, c := range w.open() {
		if w.ran[c] > 0 { // claimed, and without a result
			w.add('t').of = c
		}
	}
	if draft != "" {
		w.draft, w.at = draft, numbers(w.rows)
	}
}

// rewind takes the last turns away.
func (w *world) rewind() {
	t := w.t
	var starts []int
	for i, r := range w.rows {
		if r.kind == 'u' {
			starts = append(starts, i)
		}
	}
	if len(starts) < 2 {
		return
	}
	keep := 1 + w.r.IntN(len(starts)-1)
	s, err := w.st.Load(t.Context(), id)
	require.NoError(t, err)
	if len(slice.OrphanedToolCalls(s.Messages[:starts[keep]])) > 0 { // they would get results
		return
	}
	_, err = slice.RewindSessionTo(t.Context(), w.st, id, keep, slice.Complete)
	require.NoError(t, err)
	w.undo = append(w.undo, w.rows)
	w.rows = slices.Clone(w.rows[:starts[keep]])
}

// valid returns what the draft has where it belongs to the rows.
func (w *world) valid() string {
	if slices.Equal(w.at, numbers(w.rows)) {
		return w.draft
	}
	return ""
}

func (w *world) check() {
	lost := testenv.Lost(w.t)
	s, err := w.st.Load(w.t.Context(), id)
	if errors.Is(err, sessionstore.ErrNotFound) {
		require.Empty(lost, w.rows)
		return
	}
	require.NoError(lost, err)
	require.Len(lost, s.Messages, len(w.rows))
	d := draftOf(w.t, w.st, id)
	require.Equal(lost, w.valid(), d.Text, "rows %v, draft %q at %v", w.rows, w.draft, w.at)
	require.Equal(w.t, d.Text == "", d.Prompt == 0)
}

// TestModel does what agents, users and other programs do, at random.
func TestModel(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	for i := range testenv.Share(4, 10, 300) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, r: rand.New(rand.NewPCG(seed, uint64(i))), st: newStore(t, nil), ran: map[[2]int]int{}}
			for range 60 {
				w.step()
			}
			if w.turn != nil {
				require.NoError(t, w.turn.Close())
			}
		})
	}
}
