package sessionstore

import (
	"errors"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// indexedOperations returns those that the index answers, while nothing changes.
func indexedOperations(t *testing.T) []cost.Operation {
	all := append(summaryOperations(t), partOperations(t)...)
	return append(all, notedAppend(t))
}

// notedAppend appends to a session that has an index, where the append is noted.
func notedAppend(t *testing.T) cost.Operation {
	st, g, _ := freshBenchStore(t, testenv.Scratch(t), 2_000, Relaxed)
	unhurried()
	reader, err := Open(st.Dir(), nil)
	require.NoError(t, err)
	_, err = LastTurnsOf(reader, t.Context(), "s", 1)
	require.NoError(t, err)
	require.NoError(t, reader.Close())
	require.NotNil(t, st.index().Rows("s"))
	return cost.Operation{Name: "append/durability=relaxed/n=2000/indexed", Do: func() error { return st.Append(t.Context(), "s", benchRow(0)) }, Gauge: g}
}

// drained goes through all of seq and returns the first error.
func drained[T any](seq iter.Seq2[T, error]) error {
	var failed error
	for _, err := range seq {
		failed = errors.Join(failed, err)
	}
	return failed
}

// summaryOperations returns those that tell what sessions are.
func summaryOperations(t *testing.T) []cost.Operation {
	const n = 100
	g := &cost.Gauge{}
	st, err := open(testenv.Scratch(t), &Options{Durability: Relaxed}, g.Seam())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for i := range n {
		require.NoError(t, st.Save(t.Context(), fmt.Sprint("session-", i), []Message{benchUser(), benchRow(i)}, Metadata{}))
	}
	unhurried()
	summaries := func() error { return drained(st.Summaries(t.Context(), nil)) }
	require.NoError(t, summaries())
	return []cost.Operation{
		{Name: "summaries/sessions=100", Do: summaries, Gauge: g},
		{Name: "summary/sessions=100", Do: func() error { _, err := st.Summary(t.Context(), "session-7"); return err }, Gauge: g},
	}
}

// partOperations returns those that read a part of a large transcript, whose length does
// not matter.
func partOperations(t *testing.T) []cost.Operation {
	var all []cost.Operation
	for _, n := range []int{2_000, 4_000} {
		g := &cost.Gauge{}
		st, err := open(testenv.Scratch(t), &Options{Durability: Relaxed, CacheBytes: -1}, g.Seam())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, st.Close()) })
		rows := make([]Message, n)
		for i := range rows {
			if rows[i] = benchRow(i); i%4 == 0 {
				rows[i] = benchUser()
			}
		}
		require.NoError(t, st.Save(t.Context(), "s", rows, Metadata{}))
		unhurried()
		var end Cursor
		for e, err := range st.Since(t.Context(), "s", Cursor{}) {
			require.NoError(t, err)
			end = e.Next
		}
		require.NotNil(t, st.index().Rows("s"))
		viewed := func(do func(v *View) error) func() error {
			return func() error {
				v, err := st.View(t.Context(), "s")
				if err != nil {
					return err
				}
				return errors.Join(do(v), v.Close())
			}
		}
		for _, op := range []cost.Operation{
			{Name: "turn", Do: viewed(func(v *View) error { _, err := v.Turn(t.Context(), n/8); return err })},
			{Name: "turnat", Do: viewed(func(v *View) error { _, err := v.TurnAt(t.Context(), n/2); return err })},
			{Name: "start", Do: viewed(func(v *View) error { _, err := v.Start(t.Context(), n/8); return err })},
			{Name: "range", Do: viewed(func(v *View) error { _, err := v.Range(t.Context(), n/2, 20); return err })},
			{Name: "cursor", Do: viewed(func(v *View) error { _, err := v.Cursor(t.Context(), n); return err })},
			{Name: "since", Do: func() error { return drained(st.Since(t.Context(), "s", end)) }},
		} {
			op.Name, op.Gauge = fmt.Sprintf("%s/n=%d", op.Name, n), g
			all = append(all, op)
		}
	}
	return all
}
