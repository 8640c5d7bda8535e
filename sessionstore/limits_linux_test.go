package sessionstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/cost"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestLimits compares what the operations cost with testdata/limits.txt. Their
// cost does not depend on the length of the transcript unless they read it or
// write it whole.
func TestLimits(t *testing.T) {
	cost.Check(t, "testdata/limits.txt", cost.MeasureAll(t, limitRuns, limited(t)))
}

// TestCalls compares how many system calls the operations make with testdata/calls.txt.
func TestCalls(t *testing.T) {
	cost.CheckCalls(t, "testdata/calls.txt", limitRuns, func() []cost.Operation { return limited(t) })
}

// limitRuns is how often an operation is done.
const limitRuns = 10

// limited returns the operations that have limits.
func limited(t *testing.T) []cost.Operation {
	t.Helper()
	all := slices.Concat(writingOperations(t), ownedOperations(t), readingOperations(t), indexedOperations(t))
	aged()
	return all
}

// writingOperations returns those that change a session.
func writingOperations(t *testing.T) []cost.Operation {
	turn := 0
	operations := []struct {
		name string
		do   func(st *Store, rows *[]Message) error
	}{
		{"save", func(st *Store, rows *[]Message) error {
			*rows = append(*rows, benchRow(0))
			return st.Save(t.Context(), "s", *rows, Metadata{})
		}},
		{"savemeta", func(st *Store, rows *[]Message) error {
			turn++
			*rows = append(*rows, benchRow(0))
			md := Metadata{}
			if err := md.Set("turn_count", 100+turn%100); err != nil {
				return err
			}
			return st.Save(t.Context(), "s", *rows, md)
		}},
		{"append", func(st *Store, _ *[]Message) error { return st.Append(t.Context(), "s", benchRow(0)) }},
		{"appenduser", func(st *Store, _ *[]Message) error { return st.Append(t.Context(), "s", benchUser()) }},
		{"updatemetadata", func(st *Store, _ *[]Message) error {
			turn++
			_, err := st.UpdateMetadata(t.Context(), "s", func(md *Metadata) error { return md.Set("turn_count", 100+turn%100) })
			return err
		}},
		{"rewrite", func(st *Store, rows *[]Message) error {
			turn++
			(*rows)[0] = benchRow(turn)
			return st.Save(t.Context(), "s", *rows, Metadata{})
		}},
	}
	var all []cost.Operation
	for _, op := range operations {
		for _, d := range benchDurabilities {
			for _, n := range []int{1000, 10} {
				if n == 10 && op.name != "save" {
					continue
				}
				st, g, rows := freshBenchStore(t, testenv.Scratch(t), n, d.is)
				if op.name == "appenduser" {
					countedSession(t, st)
				}
				name := fmt.Sprintf("%s/durability=%s/n=%d", op.name, d.name, n)
				all = append(all, cost.Operation{Name: name, Do: func() error { return op.do(st, &rows) }, Gauge: g})
			}
		}
	}
	return all
}

// ownedOperations returns an append to a session that hosts may own: in the default
// directory of its workspace each is.
func ownedOperations(t *testing.T) []cost.Operation {
	g := &cost.Gauge{}
	st, err := open(testenv.Scratch(t), &Options{Workspace: t.TempDir()}, g.Seam())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, st.Close()) })
	for range 3 {
		require.NoError(t, st.Append(t.Context(), "s", benchRow(0)))
	}
	return []cost.Operation{{
		Name: "appendowned/durability=durable/n=3", Gauge: g,
		Do: func() error { return st.Append(t.Context(), "s", benchRow(0)) },
	}}
}

// benchUser is a message of a person of about 1 kB.
func benchUser() Message {
	return newMessage(fmt.Appendf(nil, `{"role": "user", "content": "%s"}`, strings.Repeat("lorem ipsum ", 82)))
}

// countedSession gives the session a turn_count of three digits, which an
// append of a message of a person is to count on.
func countedSession(t *testing.T, st *Store) {
	_, err := st.UpdateMetadata(t.Context(), "s", func(md *Metadata) error { return md.Set(turnsMember, 0) })
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", slices.Repeat([]Message{benchUser()}, 100)...))
	require.NoError(t, st.Append(t.Context(), "s", benchUser())) // which brings the backup up to them
}

// readingOperations returns those that change nothing.
func readingOperations(t *testing.T) []cost.Operation {
	var all []cost.Operation
	for _, n := range []int{10, 1000} {
		st, g, _ := freshBenchStore(t, testenv.Scratch(t), n, Relaxed)
		for _, op := range []cost.Operation{
			{Name: "load", Do: func() error {
				st.cache.invalidate("s")
				_, err := st.Load(t.Context(), "s")
				return err
			}},
			{Name: "reload", Do: func() error { _, err := st.Load(t.Context(), "s"); return err }},
			{Name: "metadata", Do: func() error { _, err := st.Metadata(t.Context(), "s"); return err }},
			{Name: "list", Do: func() error { _, err := st.List(t.Context(), nil); return err }},
			{Name: "views", Do: func() error {
				s, err := st.Load(t.Context(), "s")
				for _, m := range s.Messages {
					_, _, _ = m.Role(), m.ToolCalls(), m.ToolCallID()
				}
				return err
			}},
		} {
			op.Name, op.Gauge = fmt.Sprintf("%s/n=%d", op.Name, n), g
			all = append(all, op)
		}
	}
	return all
}
