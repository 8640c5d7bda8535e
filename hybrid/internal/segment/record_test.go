package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

const testLog = Stream("e-1f3a9c02")

// TestReadingOn reads the end of a log whose deltas need lines before it: with
// the line at hand, without it, with a wrong one, and with another writer's
// segments between.
func TestReadingOn(t *testing.T) {
	t.Parallel()
	lines, _ := growing(t, rand.New(rand.NewPCG(5, 5)), 30, 3<<10)
	s := newShelf()
	from := start(testLog)
	var places []From
	for _, l := range lines {
		from = s.store(t, Options{}, from, [][]byte{l})
		from.Large = clone(from.Large)
		places = append(places, from)
	}
	infos, tip := s.infos(t, testLog), from.Mark.Point()
	for i := 0; i < len(places); i += 4 {
		p := places[i]
		for name, large := range map[string]*Large{
			"at hand": p.Large, "none": nil, "wrong": {N: int64(i), Line: []byte("wrong")},
		} {
			s.reads = 0
			got, err := collect(Lines(s, testLog, infos, p.Mark.Point(), tip, large))
			require.NoError(t, err, "%d %s", i, name)
			require.True(t, slices.EqualFunc(lines[i+1:], got, bytes.Equal), "%d %s", i, name)
			if name == "at hand" {
				require.Equal(t, len(got), s.reads)
			}
		}
	}
	near := slices.DeleteFunc(slices.Clone(infos), func(in Info) bool { return in.From.N < 20 })
	_, err := collect(Lines(s, testLog, near, places[19].Mark.Point(), tip, nil))
	var gap *GapError
	require.ErrorAs(t, err, &gap, "a line before them is needed")
	require.Less(t, gap.From, gap.To)
	require.LessOrEqual(t, gap.To, int64(20))
	got, err := collect(Lines(s, testLog, near, places[19].Mark.Point(), tip, places[19].Large))
	require.NoError(t, err)
	require.Equal(t, lines[20:], got)
}

func clone(l *Large) *Large {
	if l == nil {
		return nil
	}
	c := *l
	c.Line = slices.Clone(l.Line)
	return &c
}

// TestTwoWritersOfOneLog: segments that were cut without the line before
// stand among others whose deltas need lines that the reader passed as whole.
func TestTwoWritersOfOneLog(t *testing.T) {
	t.Parallel()
	lines, _ := growing(t, rand.New(rand.NewPCG(6, 6)), 24, 3<<10)
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+20; seed++ {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newShelf()
		var tip Point
		for range 2 {
			from := start(testLog)
			for i := 0; i < len(lines); {
				n := min(len(lines)-i, 1+r.IntN(7))
				if r.IntN(3) == 0 {
					from.Large = nil
				}
				from = s.store(t, Options{Target: Capacity}, from, lines[i:i+n])
				i += n
			}
			tip = from.Mark.Point()
		}
		infos := s.infos(t, testLog)
		r.Shuffle(len(infos), func(i, j int) { infos[i], infos[j] = infos[j], infos[i] })
		got, err := collect(Lines(s, testLog, infos, Origin(testLog), tip, nil))
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, lines, got, "seed %d", seed)
	}
}

// TestUnlikeLinesBetween: outputs of tools between requests that repeat each
// other do not make the requests whole again.
func TestUnlikeLinesBetween(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	requests, unique := growing(t, r, 60, 10<<10)
	var lines [][]byte
	for i, l := range requests {
		out := random(r, 20<<10)
		data, err := compress([]byte(out))
		require.NoError(t, err)
		unique += len(data)
		lines = append(lines, l, fmt.Appendf(nil, `{"event":"tool:post","n":%d,"output":"%s"}`, i, out))
	}
	s := newShelf()
	end := s.store(t, Options{}, start(testLog), lines)
	got, err := collect(Lines(s, testLog, s.infos(t, testLog), Origin(testLog), end.Mark.Point(), nil))
	require.NoError(t, err)
	require.Equal(t, lines, got)
	require.Less(t, float64(s.payload(t))/float64(unique), 1.15)
}

func TestMerging(t *testing.T) {
	t.Parallel()
	lines, _ := growing(t, rand.New(rand.NewPCG(9, 9)), 40, 3<<10)
	lines[20] = slices.Concat(lines[20], []byte(random(rand.New(rand.NewPCG(1, 1)), 600<<10)))
	s, from := newShelf(), start(testLog)
	for _, l := range lines {
		from = s.store(t, Options{}, from, [][]byte{l})
	}
	spans, err := Tile(testLog, s.infos(t, testLog), Origin(testLog), from.Mark.Point())
	require.NoError(t, err)
	var parts []*Segment
	for _, span := range spans {
		part, err := load(s, &span.Info)
		require.NoError(t, err)
		parts = append(parts, part)
	}
	for begin := 0; begin < len(parts); begin += 10 {
		d, err := Merge(parts[begin:begin+10], testNonce)
		require.NoError(t, err)
		require.Equal(t, 10, d.Lines)
		for _, p := range parts[begin : begin+10] {
			delete(s.docs, p.PK+" "+p.ID)
		}
		s.put(d)
	}
	infos := s.infos(t, testLog)
	require.Len(t, infos, 4)
	got, err := collect(Lines(s, testLog, infos, Origin(testLog), from.Mark.Point(), nil))
	require.NoError(t, err)
	require.Equal(t, lines, got)

	_, err = Merge(nil, testNonce)
	require.Error(t, err)
	_, err = Merge([]*Segment{parts[1], parts[0]}, testNonce)
	require.Error(t, err)
	_, err = Merge(parts, testNonce)
	require.NoError(t, err)
	big := *parts[1]
	big.Bytes = heldMax
	_, err = Merge([]*Segment{parts[0], &big}, testNonce)
	require.ErrorIs(t, err, ErrTooLarge)
}

// TestTooLargeAfterAll: a document that came out larger than its estimate is
// parted.
func TestTooLargeAfterAll(t *testing.T) {
	t.Parallel()
	lines, _ := growing(t, rand.New(rand.NewPCG(2, 2)), 30, 3<<10)
	s := newShelf()
	c := NewCutter(Options{SID: testSID, Target: Capacity}, start(testLog))
	var docs []Document
	put := func(d Document) error { docs = append(docs, d); return nil }
	for _, l := range lines {
		require.NoError(t, c.add(l, put))
	}
	require.Empty(t, docs)
	c.o.Cap = 40 << 10
	require.NoError(t, c.flush(put))
	require.Greater(t, len(docs), 2)
	for _, d := range docs {
		require.LessOrEqual(t, d.Size(), c.o.Cap)
		s.put(d)
	}
	require.Equal(t, c.At().Mark.Point(), docs[len(docs)-1].To)
	got, err := collect(Lines(s, testLog, s.infos(t, testLog), Origin(testLog), c.At().Mark.Point(), nil))
	require.NoError(t, err)
	require.Equal(t, lines, got)
}
