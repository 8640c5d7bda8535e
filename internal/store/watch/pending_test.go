package watch

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPending(t *testing.T) {
	t.Parallel()
	wrote := func(id, file string) Change { return Change{ID: id, File: file, Op: Wrote} }
	removed := func(id, file string) Change { return Change{ID: id, File: file, Op: Removed} }
	const text, meta = "transcript.jsonl", "metadata.json"
	rescan := Change{Op: Rescan}

	tests := []struct {
		name      string
		add, want []Change
	}{
		{"empty", nil, nil},
		{"in order", []Change{wrote("b", text), wrote("a", text)}, []Change{wrote("b", text), wrote("a", text)}},
		{"once a file", []Change{wrote("a", text), wrote("a", meta), wrote("a", text)}, []Change{wrote("a", text), wrote("a", meta)}},
		{"the last counts", []Change{wrote("a", text), removed("a", text)}, []Change{removed("a", text)}},
		{
			"a removed session's files do not matter",
			[]Change{wrote("a", text), wrote("a", ""), wrote("b", text), wrote("a", meta), removed("a", "")},
			[]Change{removed("a", ""), wrote("b", text)},
		},
		{
			"made anew",
			[]Change{wrote("a", text), removed("a", ""), wrote("a", ""), wrote("a", text)},
			[]Change{wrote("a", text), wrote("a", "")},
		},
		{"rescan", []Change{wrote("a", text), rescan, wrote("b", text), removed("b", "")}, []Change{rescan}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s pending
			for _, c := range tt.add {
				s.add(c)
			}
			require.Equal(t, tt.want, takeAll(&s))
			s.add(wrote("later", text))
			require.Equal(t, []Change{wrote("later", text)}, takeAll(&s))
		})
	}
}

func TestPendingIsBounded(t *testing.T) {
	t.Parallel()
	var s pending
	for i := range maxPending {
		s.add(Change{ID: strconv.Itoa(i), File: "metadata.json"})
		s.add(Change{ID: "0", File: "metadata.json"})
	}
	require.False(t, s.rescan, "it is just full")
	s.add(Change{ID: "one more", File: "metadata.json"})
	require.Equal(t, []Change{{Op: Rescan}}, takeAll(&s))

	for range 3 * maxPending { // removals leave nothing behind that grows
		s.add(Change{ID: "a", File: "metadata.json"})
		s.add(Change{ID: "a", Op: Removed})
	}
	require.LessOrEqual(t, len(s.order), maxPending)
	require.NotEmpty(t, takeAll(&s))
}

func takeAll(s *pending) (all []Change) {
	for {
		c, ok := s.take()
		if !ok {
			return all
		}
		all = append(all, c)
	}
}
