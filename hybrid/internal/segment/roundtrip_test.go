package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var longest = flag.Int("longest", 5<<20, "length of the longest line that is tried")

// awkward are lines that text formats lose.
func awkward() [][]byte {
	lines := []string{
		"", "a", "{}", `{"role":"user","content":"hi"}`, "\r", "line\r", "\r\r", "a\x00b", "\x00", "\xff\xfe", "caf\xe9", "\xed\xa0\x80",
		"\ufffd", "\u2028\u2029\u0085", "\ufeff{}", "<a href=\"x\">&amp;</a>", `{"n":1e400,"x":NaN}`, `{"a":"\ud800"}`, "\x1f\x7f\b\f",
		strings.Repeat("\x01", 300<<10), strings.Repeat("\xff", 300<<10), strings.Repeat("\"\\", 100<<10), strings.Repeat("x", largeMin),
		strings.Repeat("y", largeMin+1), strings.Repeat("z", inlineMax), strings.Repeat("z", inlineMax+1), strings.Repeat("long ", chunkBytes/5*3),
	}
	out := make([][]byte, len(lines))
	for i, l := range lines {
		out[i] = []byte(l)
	}
	return out
}

func TestAwkwardLines(t *testing.T) {
	t.Parallel()
	for _, st := range []Stream{Transcript, "e-1f3a9c02", "p-1f3a9c02", "c-1f3a9c02", "h-1f3a9c02"} {
		for _, o := range []Options{{}, {Target: 1}, {Cap: 80 << 10}, {Target: 1 << 30}} {
			t.Run(fmt.Sprintf("%s/target=%d,cap=%d", st, o.Target, o.Cap), func(t *testing.T) {
				t.Parallel()
				s, lines := newShelf(), awkward()
				end := s.store(t, o, start(st), lines)
				got, err := collect(Lines(s, st, s.infos(t, st), Origin(st), end.Mark.Point(), nil))
				require.NoError(t, err)
				require.Len(t, got, len(lines))
				for i := range lines {
					require.True(t, bytes.Equal(lines[i], got[i]), "line %d", i)
				}
				for _, d := range s.docs {
					require.LessOrEqual(t, d.Size(), o.filled().Cap)
					require.True(t, json.Valid(d.Label))
				}
			})
		}
	}
}

// TestLongLines sends lines up to 5 MB, or the flag's length, twice: as they
// are and changed a little, in both kinds of streams.
func TestLongLines(t *testing.T) {
	t.Parallel()
	sizes := []int{1, 100, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 512 << 10, 1<<20 + 1, *longest}
	lines := func(yield func([]byte, error) bool) {
		r := rand.NewChaCha8([32]byte{1})
		for _, n := range sizes {
			line := make([]byte, n)
			_, _ = r.Read(line)
			for i := range line {
				if line[i] == '\n' {
					line[i] = '\r'
				}
			}
			if !yield(line, nil) {
				return
			}
			line[n/2] ^= 0x40
			if !yield(bytes.ReplaceAll(line, []byte("\n"), nil), nil) {
				return
			}
		}
	}
	for _, st := range []Stream{Transcript, "e-1f3a9c02"} {
		s := newShelf()
		c := NewCutter(Options{SID: testSID}, start(st))
		for d, err := range c.Documents(lines) {
			require.NoError(t, err)
			require.LessOrEqual(t, d.Size(), Capacity)
			require.LessOrEqual(t, len(d.Label), labelMax)
			s.put(d)
		}
		next, stop := iter.Pull2(Lines(s, st, s.infos(t, st), Origin(st), c.At().Mark.Point(), nil))
		for want := range lines {
			got, err, ok := next()
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, sha256.Sum256(want), sha256.Sum256(got))
		}
		_, _, ok := next()
		require.False(t, ok)
		stop()
	}
}

func TestCutting(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	lines := make([][]byte, 3000)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, `{"role":"user","content":"%s"}`, random(r, r.IntN(2000)))
	}
	s := newShelf()
	end := s.store(t, Options{}, start(Transcript), lines)
	require.EqualValues(t, len(lines), end.Mark.N)
	require.Equal(t, len(lines), end.Mark.Turn)
	infos, small := s.infos(t, Transcript), 0
	for _, d := range s.docs {
		require.Less(t, d.Size(), target+8<<10)
		if d.Size() < target*3/4 {
			small++
		}
	}
	require.LessOrEqual(t, small, 1, "all but the last are near their target")
	again := newShelf()
	again.store(t, Options{}, start(Transcript), lines)
	require.Equal(t, s.docs, again.docs, "the same lines make the same documents")
	require.Len(t, infos, len(s.docs))
	for _, in := range infos {
		require.Equal(t, in.Offset, offset(lines[:in.From.N]))
		require.Equal(t, in.Bytes, offset(lines[in.From.N:in.To.N]))
	}
}

func offset(lines [][]byte) (n int64) {
	for _, l := range lines {
		n += int64(len(l)) + 1
	}
	return n
}

// TestTurnIsTwoDocuments: lines up to 256 KB of one turn, whatever they hold.
func TestTurnIsTwoDocuments(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for range 20 {
		var lines [][]byte
		size := int64(0)
		for {
			line := []byte(random(r, r.IntN(190<<10)))
			if size+int64(len(line)) > twoDocs-100 {
				break
			}
			lines, size = append(lines, line), size+int64(len(line))+1
		}
		s := newShelf()
		s.store(t, Options{Size: size}, start(Transcript), lines)
		require.LessOrEqual(t, len(s.docs), 2, "%d lines, %d bytes", len(lines), size)
	}
}

func TestStopsAndErrors(t *testing.T) {
	t.Parallel()
	lines := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	for range NewCutter(Options{SID: testSID, Target: 1}, start(Transcript)).Documents(each(lines)) {
		break
	}
	broken := errors.New("cable cut")
	n := 0
	for _, err := range NewCutter(Options{SID: testSID}, start(Transcript)).Documents(func(yield func([]byte, error) bool) {
		_ = yield([]byte("a"), nil) && yield(nil, broken)
	}) {
		require.ErrorIs(t, err, broken)
		n++
	}
	require.Equal(t, 1, n)

	s := newShelf()
	end := s.store(t, Options{Target: 1}, start(Transcript), lines)
	all := Lines(s, Transcript, s.infos(t, Transcript), Origin(Transcript), end.Mark.Point(), nil)
	for line, err := range all {
		require.NoError(t, err)
		require.Equal(t, "a", string(line))
		break
	}
	got, err := collect(all)
	require.NoError(t, err)
	require.Equal(t, lines, got, "a second loop begins anew")
	s.fail = broken
	_, err = collect(all)
	require.ErrorIs(t, err, broken)
	require.NotErrorIs(t, err, ErrDamaged)
}

// TestLabelsAreSmall: the label of a segment with many short lines is one that each remote
// takes, and so is that of segments which are merged, and of a line in many chunks.
func TestLabelsAreSmall(t *testing.T) {
	t.Parallel()
	lines := make([][]byte, 40000)
	for i := range lines {
		lines[i] = fmt.Appendf(nil, `{"role":"user","timestamp":"2026-11-20T10:%02d:%02dZ"}`, i/60%60, i%60)
	}
	for _, st := range []Stream{Transcript, testLog} {
		s := newShelf()
		end := s.store(t, Options{Size: twoDocs}, start(st), lines) // looks at each label
		infos := s.infos(t, st)
		got, err := collect(Lines(s, st, infos, Origin(st), end.Mark.Point(), nil))
		require.NoError(t, err)
		require.Equal(t, lines, got)
		spans, err := Tile(st, infos, Origin(st), end.Mark.Point())
		require.NoError(t, err)
		var parts []*Segment
		for _, span := range spans {
			part, err := load(s, &span.Info)
			require.NoError(t, err)
			parts = append(parts, part)
		}
		_, err = Merge(parts, testNonce)
		require.ErrorIs(t, err, ErrTooLarge)
	}
	for _, size := range []int{1, chunkBytes, 64 << 20, MaxLine} {
		for _, c := range []int{0, Capacity / 2} {
			n := (&Cutter{o: Options{Cap: c}.filled()}).chunkSize(size)
			require.LessOrEqual(t, headBytes+(size+n-1)/n*nameBytes, labelMax)
			require.LessOrEqual(t, n*4/3, Capacity)
		}
	}
}
