package segment

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// random returns base64 of random bytes: what does not compress below 3/4.
func random(r *rand.Rand, n int) string {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// growing returns events that repeat all former messages, and the bytes of all
// that is new, compressed.
func growing(t testing.TB, r *rand.Rand, events, size int) (lines [][]byte, unique int) {
	var messages []string
	for i := range events {
		text := random(r, size)
		messages = append(messages, fmt.Sprintf(`{"role":"user","content":"%s"}`, text))
		lines = append(lines, fmt.Appendf(nil, `{"ts":"2026-11-20T10:%02d:%02d.%03d+00:00","event":"llm:request","data":{"messages":[%s],"n":%d}}`,
			i/60, i%60, r.IntN(1000), strings.Join(messages, ","), i))
		data, err := compress([]byte(text))
		require.NoError(t, err)
		unique += len(data)
	}
	return lines, unique
}

// log yields the lines of growing without holding them, and counts what is
// new in unique, compressed.
func log(seed uint64, events, size int, unique *int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		r := rand.New(rand.NewPCG(seed, uint64(size)))
		var messages, line []byte
		for i := range events {
			text := random(r, size)
			if unique != nil {
				data, err := compress([]byte(text))
				*unique += len(data)
				if err != nil && !yield(nil, err) {
					return
				}
			}
			messages = fmt.Appendf(messages, `{"role":"user","content":"%s"},`, text)
			line = fmt.Appendf(line[:0], `{"ts":"2026-11-20T10:%02d:%02d.%03d+00:00","event":"llm:request","data":{"messages":[%s],"n":%d}}`,
				i/60, i%60, r.IntN(1000), messages, i)
			if !yield(line, nil) {
				return
			}
		}
	}
}

func TestDeltasOfGrowingLogs(t *testing.T) {
	t.Parallel()
	for _, kb := range []int{1, 4, 20, 100} {
		t.Run(fmt.Sprintf("%dKB", kb), func(t *testing.T) {
			t.Parallel()
			events := 200
			switch {
			case kb == 100 && testenv.Long():
				events = 60 // 180 MB of lines
			case kb >= 20 && !testenv.Long():
				events = 20 + 1000/kb
			}
			unique, s := 0, newShelf()
			c := NewCutter(Options{SID: testSID}, start(testLog))
			for d, err := range c.Documents(log(7, events, kb<<10, &unique)) {
				require.NoError(t, err)
				s.put(d)
			}
			next, stop := iter.Pull2(log(7, events, kb<<10, nil))
			defer stop()
			for got, err := range Lines(s, testLog, s.infos(t, testLog), Origin(testLog), c.At().Mark.Point(), nil) {
				require.NoError(t, err)
				want, _, ok := next()
				require.True(t, ok)
				require.True(t, bytes.Equal(want, got))
			}
			_, _, ok := next()
			require.False(t, ok)
			ratio := float64(s.payload(t)) / float64(unique)
			t.Logf("%d documents, %.3f of the unique bytes", len(s.docs), ratio)
			require.Less(t, ratio, 1.15)
		})
	}
}

// TestDeltas makes lines of bases in all the ways that lines resemble others.
func TestDeltas(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 11))
	base := []byte(random(r, 20<<10))
	swap := slices.Concat(base[10<<10:], base[:10<<10])
	inside := slices.Concat(base[:5000], []byte("new"), base[5000:9000], base[9100:])
	for name, c := range map[string]struct {
		base, line []byte
		most       int
	}{
		"same":       {base, base, 10},
		"longer":     {base, slices.Concat(base, []byte("more")), 20},
		"shorter":    {base, base[:12345], 20},
		"behind":     {base, slices.Concat([]byte("before"), base), 60},
		"swapped":    {base, swap, 100},
		"inside":     {base, inside, 200},
		"twice":      {base, slices.Concat(base, base), 60},
		"nothing":    {base, nil, 0},
		"of nothing": {nil, base, len(base) + 10},
		"short base": {base[:block-1], base, len(base) + 10},
		"one block":  {base[:block], slices.Concat([]byte("x"), base[:block]), 20},
		"zeros":      {make([]byte, 1<<20), make([]byte, 3<<20), 200},
		"other":      {base, []byte(random(r, 20<<10)), 21 << 11},
	} {
		d, short := appendDelta([]byte("kept"), c.base, c.line, c.most+1)
		require.True(t, short, name)
		require.Equal(t, "kept", string(d[:4]))
		require.LessOrEqual(t, len(d)-4, c.most, name)
		got, err := applyDelta(nil, c.base, d[4:], int64(len(c.line)))
		require.NoError(t, err, name)
		require.True(t, bytes.Equal(c.line, got), name)
		_, err = applyDelta(nil, c.base, d[4:], int64(len(c.line))+1)
		require.Error(t, err, name)
		least := len(d) - 4
		d, short = appendDelta([]byte("kept"), c.base, c.line, least)
		require.False(t, short, name)
		require.LessOrEqual(t, len(d)-4, least+2*binary.MaxVarintLen64, name)
	}
}

func FuzzDelta(f *testing.F) {
	long := bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz0123456789"), 10)
	f.Add(long, long[20:], []byte{1, 2})
	f.Add([]byte{}, []byte("x"), []byte{0xff, 0xff})
	f.Fuzz(func(t *testing.T, base, line, junk []byte) {
		d, short := appendDelta(nil, base, line, len(line)+2*binary.MaxVarintLen64)
		require.True(t, short)
		got, err := applyDelta(nil, base, d, int64(len(line)))
		require.NoError(t, err)
		require.True(t, bytes.Equal(line, got))
		got, err = applyDelta(nil, base, junk, 1000)
		require.True(t, err != nil || len(got) == 1000)
	})
}
