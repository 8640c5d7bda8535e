package sessionstore

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A file that is parsed in parts gives the rows, and the first damage, of one
// that is parsed as a whole.
func TestRowsInParts(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	const lines = 9_000
	for i := range lines {
		fmt.Fprintf(&whole, `{"role": "user", "content": "%d %s"}`+"\n", i, strings.Repeat("x", 300+i%100))
	}
	data := whole.Bytes()
	require.Greater(t, len(data), 2*chunkSize)
	tests := []struct {
		name string
		bad  []int // lines, from 0, that are damaged
	}{
		{"sound", nil},
		{"in the last part", []int{lines - 2}},
		{"in two parts", []int{lines / 4, lines - 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rows := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			offset := 0
			for i := range rows {
				if len(tt.bad) > 0 && i < tt.bad[0] {
					offset += len(rows[i])
				}
			}
			for _, i := range tt.bad {
				rows[i] = bytes.Replace(rows[i], []byte("}"), []byte(" "), 1)
			}
			f := file{path: "transcript.jsonl", found: true, data: bytes.Join(rows, nil)}
			got := f.parseRows(t.Context())
			require.Len(t, got, lines-len(tt.bad))
			if len(tt.bad) == 0 {
				require.Nil(t, f.bad)
				for i, m := range got {
					require.Equal(t, bytes.TrimSuffix(rows[i], []byte("\n")), m.AppendTo(nil))
				}
				return
			}
			require.Equal(t, tt.bad[0]+1, f.bad.Line)
			require.EqualValues(t, offset, f.bad.Offset)
			require.Equal(t, "transcript.jsonl", f.bad.Path)
		})
	}
}

func TestSplitKeepsLines(t *testing.T) {
	t.Parallel()
	data := []byte("a\nbb\n\nccc\nd")
	for n := range 8 {
		parts := split(data, n)
		require.LessOrEqual(t, len(parts), max(n, 1))
		var all []byte
		lines := 0
		for i, p := range parts {
			require.EqualValues(t, len(all), p.at)
			require.True(t, i == len(parts)-1 || bytes.HasSuffix(p.data, []byte("\n")))
			all = append(all, p.data...)
			p.parse(t.Context())
			lines += p.lines
		}
		require.Equal(t, string(data), string(all))
		require.Equal(t, 5, lines)
	}
	require.Len(t, split(nil, 3), 1)
}
