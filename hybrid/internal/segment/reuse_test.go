package segment

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFork: a fork shares the segments of its past, up to any line of them,
// and brings only its own.
func TestFork(t *testing.T) {
	t.Parallel()
	s := newShelf()
	lines, _ := growing(t, rand.New(rand.NewPCG(1, 5)), 40, 2<<10)
	for i := range lines {
		lines[i] = fmt.Appendf(lines[i][:len(lines[i])-1], `,"n":%d}`, i)
	}
	s.store(t, Options{}, start(Transcript), lines)
	parent := s.infos(t, Transcript)
	before := len(s.docs)

	tr := NewTracker(Transcript, nil, nil)
	for _, l := range lines[:17] {
		tr.Add(l, nil)
	}
	fork := strings.Repeat("f", 32)
	c := NewCutter(Options{SID: fork}, From{Stream: Transcript, Mark: tr.Mark()})
	own := [][]byte{[]byte("own 1"), []byte("own 2")}
	for d, err := range c.Documents(each(own)) {
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(d.ID, fork))
		s.put(d)
	}
	require.Len(t, s.docs, before+1)
	got, err := collect(Lines(s, Transcript, s.infos(t, Transcript), Origin(Transcript), c.At().Mark.Point(), nil))
	require.NoError(t, err)
	require.Equal(t, append(lines[:17:17], own...), got)
	got, err = collect(Lines(s, Transcript, parent, Origin(Transcript), tr.Mark().Point(), nil))
	require.NoError(t, err)
	require.Equal(t, lines[:17], got, "what it shares")
}

// TestRepair: the lines of a damaged segment, cut once more between the same
// places, make a document that takes its place once it is removed.
func TestRepair(t *testing.T) {
	t.Parallel()
	lines, _ := growing(t, rand.New(rand.NewPCG(1, 6)), 24, 2<<10)
	for _, st := range []Stream{Transcript, testLog} {
		s := newShelf()
		end := s.store(t, Options{Target: 20 << 10}, start(st), lines)
		infos := s.infos(t, st)
		require.Greater(t, len(infos), 1)
		for i := range min(len(infos), 6) {
			infos := s.infos(t, st)
			slices.SortFunc(infos, func(a, b Info) int { return cmp.Compare(a.From.N, b.From.N) })
			in := infos[i]
			s.put(Document{ID: in.ID, PK: in.PK, Label: []byte("{}")})
			_, err := collect(Lines(s, st, infos, Origin(st), end.Mark.Point(), nil))
			require.ErrorIs(t, err, ErrDamaged)
			delete(s.docs, in.PK+" "+in.ID)
			_, err = collect(Lines(s, st, infos, Origin(st), end.Mark.Point(), nil))
			var damage *DamageError
			require.ErrorAs(t, err, &damage)
			require.Equal(t, [3]any{in.ID, in.From.N, in.To.N}, [3]any{damage.ID, damage.From, damage.To})

			tr := NewTracker(st, nil, nil)
			for _, l := range lines[:in.From.N] {
				tr.Add(l, nil)
			}
			s.store(t, Options{Target: Capacity}, From{Stream: st, Mark: tr.Mark()}, lines[in.From.N:in.To.N])
			require.NotContains(t, s.docs, in.PK+" "+in.ID)
			got, err := collect(Lines(s, st, s.infos(t, st), Origin(st), end.Mark.Point(), nil))
			require.NoError(t, err)
			require.Equal(t, lines, got)
		}
	}
}
