package sessionstore_test

import (
	"context"
	"fmt"
	"os"
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
	part, err := st.Part(ctx, "s", first, n)
	require.NoError(t, err, after)
	require.Equal(t, lines(rows[begin:end]), lines(part.Messages), after)
	part.Messages = nil
	require.Equal(t, sessionstore.Part{First: first, Turn: turn, Total: len(rows), Turns: len(turns)}, part, after)
	at, err := st.CursorAt(ctx, "s", first-1)
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
		part, err := st.PartFromTurn(ctx, "s", n, 1)
		require.NoError(t, err, after)
		begin := turns[n-1].Start
		require.Equal(t, lines(rows[begin:begin+1]), lines(part.Messages), after)
		part.Messages = nil
		require.Equal(t, sessionstore.Part{First: begin + 1, Turn: n, Total: len(rows), Turns: len(turns)}, part, after)
	}
	_, err = st.PartFromTurn(ctx, "s", len(turns)+1, 1)
	require.ErrorIs(t, err, sessionstore.ErrNotFound, after)
	_, err = st.Part(ctx, "s", 0, 1)
	require.Error(t, err, after)
}

// A program shows the last messages of a long session, and then what is new.
func ExampleStore_Part() {
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

	all, err := store.Part(ctx, "talk", 1, 0) // how long it is
	if err != nil {
		panic(err)
	}
	part, err := store.Part(ctx, "talk", all.Total-1, 2)
	if err != nil {
		panic(err)
	}
	for _, m := range part.Messages {
		fmt.Println(m.Content())
	}
	at, err := store.CursorAt(ctx, "talk", part.Total)
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
