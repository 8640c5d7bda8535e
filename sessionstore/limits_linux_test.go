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
	const runs = 10
	got := cost.Table{}
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
	for _, op := range operations {
		for _, d := range benchDurabilities {
			for _, n := range []int{1000, 10} {
				if n == 10 && op.name != "save" {
					continue
				}
				st, g, rows := benchStore(t, n, d.is)
				got[fmt.Sprintf("%s/durability=%s/n=%d", op.name, d.name, n)] = g.Measure(runs, func() { require.NoError(t, op.do(st, &rows)) })
			}
		}
	}
	for name, c := range readingCosts(t, runs) {
		got[name] = c
	}
	cost.Check(t, "testdata/limits.txt", got)
}

// readingCosts measures what changes nothing.
func readingCosts(t *testing.T, runs int) cost.Table {
	got := cost.Table{}
	for _, n := range []int{10, 1000} {
		st, g, _ := benchStore(t, n, Relaxed)
		operations := map[string]func() error{
			"load": func() error {
				st.session("s").forget()
				_, err := st.Load(t.Context(), "s")
				return err
			},
			"reload":   func() error { _, err := st.Load(t.Context(), "s"); return err },
			"metadata": func() error { _, err := st.Metadata(t.Context(), "s"); return err },
			"list":     func() error { _, err := st.List(t.Context(), nil); return err },
			"views": func() error {
				s, err := st.Load(t.Context(), "s")
				for _, m := range s.Messages {
					_, _, _ = m.Role(), m.ToolCalls(), m.ToolCallID()
				}
				return err
			},
		}
		for name, do := range operations {
			got[fmt.Sprintf("%s/n=%d", name, n)] = g.Measure(runs, func() { require.NoError(t, do()) })
		}
	}
	return got
}
