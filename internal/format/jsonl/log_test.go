package jsonl

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data string
		records    []string
		damaged    []int
		whole      int64
		open       bool
	}{
		{name: "empty"},
		{name: "whole", data: "{a}\n{b}\n", records: []string{"{a}", "{b}"}, whole: 8},
		{name: "without its LF", data: "{a}\n{b}", records: []string{"{a}", "{b}"}, whole: 7, open: true},
		{name: "NUL for its LF", data: "{a}\n{b}\x00", records: []string{"{a}", "{b}"}, whole: 7, open: true},
		{name: "NULs alone", data: "{a}\n\x00\x00", records: []string{"{a}"}, whole: 4},
		{name: "torn", data: "{a}\n{b", records: []string{"{a}"}, whole: 4},
		{name: "all torn", data: "{b"},
		{name: "NULs to its size", data: "{a}\n{b\x00\x00\x00", records: []string{"{a}"}, whole: 4},
		{name: "NULs in its middle", data: "{a}\n{\x00\x00}\n", records: []string{"{a}"}, whole: 4},
		{name: "only blanks behind", data: "{a}\n  ", records: []string{"{a}"}, whole: 4},
		{name: "blank line", data: "\n{a}\n\n", records: []string{"{a}"}, whole: 6},
		{name: "damaged", data: "x\n{a}\ny\n", records: []string{"{a}"}, damaged: []int{1, 3}, whole: 8},
		{name: "NULs before others", data: "\x00\n{a}\n", records: []string{"{a}"}, damaged: []int{1}, whole: 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var records []string
			var damaged []int
			parse := func(l Line) bool {
				n := len(l.Bytes)
				if n < 2 || l.Bytes[0] != '{' || l.Bytes[n-1] != '}' || l.Bytes[1] == 0 {
					return false
				}
				records = append(records, string(l.Bytes))
				return true
			}
			whole, open := Log([]byte(c.data), parse, func(l Line) { damaged = append(damaged, l.Number) })
			require.Equal(t, c.records, records)
			require.Equal(t, c.damaged, damaged)
			require.Equal(t, c.whole, whole)
			require.Equal(t, c.open, open)

			read, err := readAll(strings.NewReader(c.data))
			require.NoError(t, err)
			records, damaged = nil, nil
			whole, open = LogOf(slices.Values(read), int64(len(c.data)), parse, func(l Line) { damaged = append(damaged, l.Number) })
			require.Equal(t, c.records, records)
			require.Equal(t, c.damaged, damaged)
			require.Equal(t, c.whole, whole)
			require.Equal(t, c.open, open)
		})
	}
}
