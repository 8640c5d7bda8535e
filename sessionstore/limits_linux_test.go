package sessionstore

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/cost"
)

// TestLimits compares what the operations cost with testdata/limits.txt. Their
// cost does not depend on the length of the transcript unless they read it or
// write it whole.
func TestLimits(t *testing.T) {
	got := cost.Table{}
	for _, o := range append(writingOperations(t), readingOperations(t)...) {
		got[o.Name] = o.gauge.Measure(limitRuns, func() { require.NoError(t, o.Do()) })
	}
	cost.Check(t, "testdata/limits.txt", got)
}

// limitRuns is how often an operation is done.
const limitRuns = 10

// A limited operation has limits to its cost, which its gauge measures.
type limited struct {
	cost.Operation
	gauge *cost.Gauge
}

// writingOperations returns those that change a session.
func writingOperations(t *testing.T) []limited {
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
	var all []limited
	for _, op := range operations {
		for _, d := range benchDurabilities {
			for _, n := range []int{1000, 10} {
				if n == 10 && op.name != "save" {
					continue
				}
				st, g, rows := benchStore(t, n, d.is)
				name := fmt.Sprintf("%s/durability=%s/n=%d", op.name, d.name, n)
				all = append(all, limited{cost.Operation{Name: name, Do: func() error { return op.do(st, &rows) }}, g})
			}
		}
	}
	return all
}

// readingOperations returns those that change nothing.
func readingOperations(t *testing.T) []limited {
	var all []limited
	for _, n := range []int{10, 1000} {
		st, g, _ := benchStore(t, n, Relaxed)
		for _, op := range []cost.Operation{
			{Name: "load", Do: func() error {
				st.session("s").forget()
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
			op.Name = fmt.Sprintf("%s/n=%d", op.Name, n)
			all = append(all, limited{op, g})
		}
	}
	return all
}
