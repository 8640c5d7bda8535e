package screen

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown is what a screen of a width, a terminal or none, writes.
func shown(width int, terminal, colour bool, do func(*Screen)) string {
	var out bytes.Buffer
	s := &Screen{out: &out, width: width, outTTY: terminal, colour: colour}
	do(s)
	return out.String()
}

func columns() []Column {
	return []Column{
		{Title: "Id", Min: 4, Whole: true, Tint: In(Green)},
		{Title: "Name", Min: 6},
		{Title: "Size", Right: true, Drop: 1},
	}
}

func rows() [][]string {
	return [][]string{{"0123456789", "a long name\nof two lines", "7"}, {"abcdefghij", "日本語", "1234"}}
}

func TestTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		width            int
		terminal, colour bool
		want             string
	}{
		{"pipe", 10, false, false, "0123456789\ta long name of two lines\t7\nabcdefghij\t日本語\t1234\n"},
		{"wide", 80, true, false, "Id          Name                      Size\n0123456789  a long name of two lines     7\nabcdefghij  日本語                    1234\n"},
		{"an id is cut first", 38, true, false, "Id    Name                      Size\n0123  a long name of two lines     7\nabcd  日本語                    1234\n"},
		{"then the widest", 20, true, false, "Id    Name      Size\n0123  a long …     7\nabcd  日本語    1234\n"},
		{"then a column goes", 16, true, false, "Id    Name\n0123  a long na…\nabcd  日本語\n"},
		{"then nothing helps but cutting", 6, true, false, "Id  N…\n01  a…\nab  …\n"},
		{"colour", 16, true, true, "\x1b[1mId\x1b[0m    \x1b[1mName\x1b[0m\n\x1b[32m0123\x1b[0m  a long na…\n\x1b[32mabcd\x1b[0m  日本語\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := shown(tt.width, tt.terminal, tt.colour, func(s *Screen) { s.Table(columns(), rows()) })
			require.Equal(t, tt.want, got)
		})
	}
}

// TestTableFits has tables of all shapes on terminals of all widths.
func TestTableFits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		cols := make([]Column, 1+r.IntN(6))
		for i := range cols {
			cols[i] = Column{Title: odd(r, r.IntN(8)), Right: r.IntN(3) == 0, Min: r.IntN(8), Whole: r.IntN(3) == 0, Drop: r.IntN(4)}
			cols[i].Title = Steady(Plain(cols[i].Title))
		}
		cells := make([][]string, r.IntN(5))
		for i := range cells {
			for range cols {
				cells[i] = append(cells[i], odd(r, r.IntN(30)))
			}
		}
		width := 3*len(cols) + r.IntN(60) // a column and a gap for each
		text := shown(width, true, false, func(s *Screen) { s.Table(cols, cells) })
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, Columns(strings.TrimSuffix(line, "\n")), width, "%q", line)
		}
		require.Equal(t, len(cells)+1, strings.Count(text, "\n"))
	}
}
