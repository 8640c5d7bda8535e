package sessionstore_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// checkParts compares parts, and places, with what they are a part of.
func (m *indexModel) checkParts(st *sessionstore.Store, rows []sessionstore.Message, turns []slice.Turn, after string) {
	t, ctx := m.t, m.t.Context()
	first, n := 1+m.r.IntN(len(rows)+2), m.r.IntN(len(rows)+2)
	begin, end := min(first-1, len(rows)), min(first-1+n, len(rows))
	turn := 0
	for _, one := range turns {
		if begin < end && one.Start <= begin {
			turn++
		}
	}
	part, err := sessionstore.PartOf(st, ctx, "s", first, n)
	require.NoError(t, err, after)
	require.Equal(t, lines(rows[begin:end]), lines(part.Messages), after)
	part.Messages = nil
	require.Equal(t, sessionstore.Part{First: first, Turn: turn, Total: len(rows), Turns: len(turns)}, part, after)
	at, err := sessionstore.CursorOf(st, ctx, "s", first-1)
	require.NoError(t, err, after)
	next := begin
	for e, err := range st.Since(ctx, "s", at) {
		require.NoError(t, err, after)
		next++
		require.Equal(t, next, e.N, after)
	}
	require.Equal(t, len(rows), next, after)
	if len(turns) > 0 {
		n := 1 + m.r.IntN(len(turns))
		part, err := sessionstore.PartFromTurnOf(st, ctx, "s", n, 1)
		require.NoError(t, err, after)
		begin := turns[n-1].Start
		require.Equal(t, lines(rows[begin:begin+1]), lines(part.Messages), after)
		part.Messages = nil
		require.Equal(t, sessionstore.Part{First: begin + 1, Turn: n, Total: len(rows), Turns: len(turns)}, part, after)
	}
	_, err = sessionstore.PartFromTurnOf(st, ctx, "s", len(turns)+1, 1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound, after)
	_, err = sessionstore.PartOf(st, ctx, "s", 0, 1)
	require.Error(t, err, after)
}

// A program shows the last messages of a long session, and then what is new.
func ExampleView_Range() {
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := sessionstore.Open(dir, nil)
	if err != nil {
		panic(err)
	}
	defer store.Close()
	say := func(text string) {
		m, err := sessionstore.Text("user", text, time.Now())
		if err == nil {
			err = store.Append(ctx, "talk", m)
		}
		if err != nil {
			panic(err)
		}
	}
	if err := store.Create(ctx, "talk", sessionstore.Metadata{}); err != nil {
		panic(err)
	}
	for i := range 5 {
		say(fmt.Sprint("question ", i+1))
	}

	view, err := store.View(ctx, "talk")
	if err != nil {
		panic(err)
	}
	defer view.Close()
	last, err := view.Range(ctx, view.Len()-1, 2)
	if err != nil {
		panic(err)
	}
	for _, m := range last {
		fmt.Println(m.Content())
	}
	at, err := view.Cursor(ctx, view.Len())
	if err != nil {
		panic(err)
	}
	say("one more")
	for entry, err := range store.Since(ctx, "talk", at) {
		if err != nil {
			panic(err)
		}
		fmt.Println("new:", entry.N, entry.Message.Content())
	}
	// Output:
	// question 4
	// question 5
	// new: 6 one more
}

// TestViewIsOneState appends to, and rewrites, what a view shows: the view stays as it was.
func TestViewIsOneState(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10, 2 << 20} { // in memory, and by way of the index
		st := open(t, t.TempDir(), nil)
		rows := parse(t, user("one "+strings.Repeat("x", size)), `{"role": "assistant", "content": "a"}`, user("two"))
		require.NoError(t, st.Save(t.Context(), "s", rows, sessionstore.Metadata{}))
		v, err := st.View(t.Context(), "s")
		require.NoError(t, err)
		require.NoError(t, st.Append(t.Context(), "s", parse(t, user("three"))...))
		s, err := st.Load(t.Context(), "s")
		require.NoError(t, err)
		_, err = st.Replace(t.Context(), "s", s.Revision, rows[2:])
		require.NoError(t, err)
		require.Equal(t, []int{3, 2}, []int{v.Len(), v.Turns()})
		all, err := v.Range(t.Context(), 1, 9)
		require.NoError(t, err)
		require.Equal(t, lines(rows), lines(all))
		turn, err := v.Turn(t.Context(), 2)
		require.NoError(t, err)
		require.Equal(t, lines(rows[2:]), lines(turn))
		first, err := v.Start(t.Context(), 2)
		require.NoError(t, err)
		require.Equal(t, 3, first)
		of, err := v.TurnAt(t.Context(), 2)
		require.NoError(t, err)
		require.Equal(t, 1, of)
		for name, err := range map[string]error{
			"turn 0":    second(v.Turn(t.Context(), 0)),
			"turn 3":    second(v.Turn(t.Context(), 3)),
			"start 3":   second(v.Start(t.Context(), 3)),
			"message 0": second(v.TurnAt(t.Context(), 0)),
			"message 4": second(v.TurnAt(t.Context(), 4)),
		} {
			require.ErrorIs(t, err, sessionstore.ErrNotFound, name)
		}
		require.Error(t, second(v.Range(t.Context(), 0, 1)))
		require.Error(t, second(v.Range(t.Context(), 1, -1)))
		none, err := v.Range(t.Context(), 4, 1)
		require.NoError(t, err)
		require.Empty(t, none)

		require.NoError(t, v.Close())
		require.NoError(t, v.Close())
		require.Zero(t, v.Len()+v.Turns())
		require.ErrorIs(t, second(v.Range(t.Context(), 1, 1)), sessionstore.ErrClosed)
		require.ErrorIs(t, second(v.Cursor(t.Context(), 1)), sessionstore.ErrClosed)
		v, err = st.View(t.Context(), "s")
		require.NoError(t, err)
		require.NoError(t, st.Close())
		require.ErrorIs(t, second(v.Range(t.Context(), 1, 1)), sessionstore.ErrClosed, "the store is closed")
		require.NoError(t, v.Close())
	}
}

func second[T any](_ T, err error) error { return err }

// TestViewOfDamage shows what could be read, with the damage.
func TestViewOfDamage(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	write(t, user("one")+"\n"+`{"role": "us`, st.Dir(), "s", transcriptFile)
	v, err := st.View(t.Context(), "s")
	require.ErrorIs(t, err, sessionstore.ErrCorrupt)
	rows, err := v.Turn(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.NoError(t, v.Close())
	v, err = st.View(t.Context(), "missing")
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	require.Nil(t, v)
}

// TestViewOverwritten: a program that writes into the file of an open view is noticed,
// and the next view shows what it wrote.
func TestViewOverwritten(t *testing.T) {
	t.Parallel()
	st := open(t, t.TempDir(), nil)
	rows := parse(t, user("one "+strings.Repeat("x", 2<<20)), user("two"))
	require.NoError(t, st.Save(t.Context(), "s", rows, sessionstore.Metadata{}))
	_, err := sessionstore.TurnOf(open(t, st.Dir(), nil), t.Context(), "s", 1) // makes the index
	require.NoError(t, err)
	v, err := open(t, st.Dir(), nil).View(t.Context(), "s")
	require.NoError(t, err)
	path := filepath.Join(st.Dir(), "s", transcriptFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	other := user("other") + "\n"
	_, err = f.WriteString(other)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.ErrorIs(t, second(v.Range(t.Context(), 1, 1)), sessionstore.ErrConflict)
	require.NoError(t, v.Close())
	now, err := sessionstore.TurnOf(st, t.Context(), "s", 1)
	require.NoError(t, err)
	require.Equal(t, []string{strings.TrimSpace(other)}, lines(now))
}
