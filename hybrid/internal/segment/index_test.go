package segment

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(seconds int) time.Time {
	return time.Date(2026, 11, 20, 10, 20, 30, 0, time.UTC).Add(time.Duration(seconds) * time.Second)
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	var got []Block
	for _, l := range session() {
		got = append(got, BlockOf(l))
	}
	require.Equal(t, []Block{{"user", at(0)}, {"assistant", at(1)}, {Role: "tool"}, {Role: "assistant"}, {}, {Role: "user"}}, got)
	for line, want := range map[string]Block{
		``:                     {},
		`{"role":7}`:           {},
		`{"role":"narrator"}`:  {},
		`{"role":"\u0075ser"}`: {}, // a turn is counted by the same rule
		`{"role":"system","ts":"2026-11-20T12:20:30+02:00","timestamp":"soon"}`: {"system", at(0)},
		`{"role":"user","timestamp":1700000000,"metadata":[]}`:                  {Role: "user"},
	} {
		require.Equal(t, want, BlockOf([]byte(line)), line)
		require.Equal(t, want.Role == "user", beginsTurn([]byte(line)), line)
	}
}

// TestIndexByHand compares an index with what its description says.
func TestIndexByHand(t *testing.T) {
	t.Parallel()
	first := time.Unix(indexEpoch+10, 0).UTC()
	blocks := []Block{
		{"user", first}, {"assistant", first.Add(3 * time.Second)}, {Role: "tool"}, {"system", first}, {"", first.Add(200 * time.Second)}, {Role: "user"},
	}
	want := []byte{0b11_10_01_00, 0b00_11, 4, 3, 12, 5, 0, 1, 3, 0xca, 0x01}
	require.Equal(t, want, encodeIndex(blocks))
	got, ok := decodeIndex(want, len(blocks))
	require.True(t, ok)
	require.Equal(t, blocks, got)
	for name, bad := range map[string][]byte{
		"short":        want[:1],
		"no role":      want[:2],
		"unknown role": {3, 7},
		"plain role":   {3, 2},
		"half a time":  want[:len(want)-1],
		"half a step":  {0, 1},
		"too far":      {0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"too early":    {0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		"more":         {0, 3, 3},
	} {
		n := 1
		if name == "short" || name == "no role" || name == "half a time" {
			n = len(blocks)
		}
		_, ok := decodeIndex(bad, n)
		require.False(t, ok, name)
	}
}

func TestIndexOfAnything(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 7))
	for range 500 {
		blocks := make([]Block, 1+r.IntN(20))
		for i := range blocks {
			blocks[i].Role = roles[r.IntN(len(roles))]
			if r.IntN(3) > 0 {
				blocks[i].Time = time.Unix(r.Int64N(1<<37)-1<<36, 0).UTC() // of the years up to 4147, and before
			}
		}
		data := encodeIndex(blocks)
		require.LessOrEqual(t, len(data)*4/3, blockBytes*len(blocks))
		got, ok := decodeIndex(data, len(blocks))
		require.True(t, ok)
		require.Equal(t, blocks, got)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte{0xe4, 3, 4, 3, 12, 5, 0, 1, 3, 0xca, 1}, 6)
	f.Add([]byte{}, 0)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		if n < 0 {
			return
		}
		blocks, ok := decodeIndex(data, n)
		if !ok {
			return
		}
		again, ok := decodeIndex(encodeIndex(blocks), n)
		require.True(t, ok)
		require.Equal(t, blocks, again)
	})
}

// blocksOf returns the blocks of all lines of the documents, by their indexes.
func (s *shelf) blocksOf(t *testing.T) map[int64]Block {
	all := map[int64]Block{}
	for _, in := range s.infos(t, Transcript) {
		blocks, ok := in.Blocks()
		require.True(t, ok, in.ID)
		for i, b := range blocks {
			all[in.From.N+int64(i)] = b
		}
	}
	return all
}

// TestIndexOfParts: what is cut small, merged, and parted again keeps its blocks.
func TestIndexOfParts(t *testing.T) {
	t.Parallel()
	var lines [][]byte
	for _, turn := range conversation(rand.New(rand.NewPCG(3, 7)), 20, 1000) {
		lines = append(lines, turn...)
	}
	lines = append(lines, bytes.Repeat([]byte(" "), inlineMax+1), []byte(`{"role":"user"}`)) // the first one in a chunk
	want := map[int64]Block{}
	for i, l := range lines {
		want[int64(i)] = BlockOf(l)
	}
	small := newShelf()
	end := small.store(t, Options{Target: 1}, start(Transcript), lines)
	require.Equal(t, want, small.blocksOf(t))

	spans, err := Tile(Transcript, small.infos(t, Transcript), Origin(Transcript), end.Mark.Point())
	require.NoError(t, err)
	require.Len(t, spans, len(lines))
	var parts []*Segment
	for _, span := range spans {
		part, err := load(small, &span.Info)
		require.NoError(t, err)
		parts = append(parts, part)
	}
	merged := newShelf()
	d, err := Merge(parts, testNonce)
	require.NoError(t, err)
	merged.put(d)
	require.Equal(t, want, merged.blocksOf(t))

	parted := newShelf()
	c := NewCutter(Options{SID: testSID, Target: Capacity}, start(Transcript))
	put := func(d Document) error { parted.put(d); return nil }
	for _, l := range lines[:len(lines)-2] {
		require.NoError(t, c.add(l, put))
	}
	c.o.Cap = 10 << 10
	require.NoError(t, c.flush(put))
	require.Greater(t, len(parted.docs), 2)
	delete(want, int64(len(lines)-1))
	delete(want, int64(len(lines)-2))
	require.Equal(t, want, parted.blocksOf(t))
}

// TestOnlyTranscriptsHaveAnIndex: nobody previews a log.
func TestOnlyTranscriptsHaveAnIndex(t *testing.T) {
	t.Parallel()
	s := newShelf()
	s.store(t, Options{}, start(testLog), session())
	for _, d := range s.docs {
		require.NotContains(t, string(d.Label), `"idx"`)
	}
	_, ok := s.infos(t, testLog)[0].Blocks()
	require.False(t, ok)
}

// TestDamagedIndex: an index that cannot be read takes nothing from the lines.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	s := newShelf()
	end := s.store(t, Options{}, start(Transcript), session())
	for k, d := range s.docs {
		var label map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(d.Label, &label))
		label["idx"] = []byte(`"////"`)
		var err error
		d.Label, err = json.Marshal(label)
		require.NoError(t, err)
		s.docs[k] = d
	}
	infos := s.infos(t, Transcript)
	_, ok := infos[0].Blocks()
	require.False(t, ok)
	lines, err := collect(Lines(s, Transcript, infos, Origin(Transcript), end.Mark.Point(), nil))
	require.NoError(t, err)
	require.Equal(t, session(), lines)
	part, err := load(s, &infos[0])
	require.NoError(t, err)
	d, err := Merge([]*Segment{part}, testNonce)
	require.NoError(t, err)
	clear(s.docs)
	s.put(d)
	require.Equal(t, BlockOf(lines[1]), s.blocksOf(t)[1], "a merge makes it again")
}
