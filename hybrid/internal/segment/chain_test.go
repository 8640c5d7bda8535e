package segment

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestChainByHand computes the first points from the definition alone.
func TestChainByHand(t *testing.T) {
	t.Parallel()
	h0 := sha256.Sum256([]byte("amplifier-sync/1\x00t"))
	require.Equal(t, Point{0, h0}, Origin(Transcript))
	h1 := sha256.Sum256(append(append(h0[:], 3), "abc"...))
	require.Equal(t, Point{1, h1}, Origin(Transcript).Add([]byte("abc")))
	long := make([]byte, 300)
	h2 := sha256.Sum256(append(append(h1[:], 0xac, 0x02), long...)) // 300 as a uvarint
	require.Equal(t, Point{2, h2}, Point{1, h1}.Add(long))
	require.NotEqual(t, Origin("e-00000000"), Origin(Transcript))
	require.Equal(t, Origin("e-00000000"), Origin("e-11111111.2"))
}

func TestHashText(t *testing.T) {
	t.Parallel()
	h := Origin(Transcript).Hash
	got, err := ParseHash(h.String())
	require.NoError(t, err)
	require.Equal(t, h, got)
	require.Equal(t, hex.EncodeToString(h[:16]), h.Short())
	for _, bad := range []string{"", "00", h.String()[1:], h.String() + "0", "ABCDEF" + h.String()[6:], "g" + h.String()[1:]} {
		_, err := ParseHash(bad)
		require.Error(t, err, "%q", bad)
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"t", "e-1f3a9c02", "p-1f3a9c02", "c-1f3a9c02.2", "h-00000000.17"} {
		s, err := ParseStream(name)
		require.NoError(t, err, name)
		if s != Transcript {
			require.Equal(t, s, LogStream(s.Kind(), s.Device(), s.Generation()))
		}
	}
	for _, name := range []string{
		"", "e", "e-", "t-1f3a9c02", "x-1f3a9c02", "e-1F3a9c02", "e-1f3a9c0", "e-1f3a9c022", "e-1f3a9c02.", "e-1f3a9c02.1",
		"e-1f3a9c02.0", "e-1f3a9c02.02", "e-1f3a9c02.-2", "e1f3a9c02", "e-1f3a9c02.2.2", "ee-1f3a9c02", "é-1f3a9c02",
	} {
		_, err := ParseStream(name)
		require.Error(t, err, name)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	a := Identity{"ada", "x", "fix-login"}
	require.True(t, isSID(a.SID()))
	require.True(t, isSID(a.UID()))
	require.NotEqual(t, a.SID(), Identity{"ada", "y", "fix-login"}.SID())
	require.NotEqual(t, a.SID(), Identity{"ad", "ax", "fix-login"}.SID())
	require.Equal(t, a.UID(), Identity{"ada", "x", "z"}.UID())
	require.NotEqual(t, a.UID(), Identity{"ada", "y", "fix-login"}.UID())
	require.NotEqual(t, a.UID(), Identity{"ad", "ax", "fix-login"}.UID())
	require.NoError(t, a.Check())
	require.Error(t, Identity{"a\x00b", "", ""}.Check())

	require.Equal(t, "5vrpw3e6ovc3qwgvtu22mq2zeehahhwh", a.SID(), "documents are stored under it")
	require.Equal(t, "s-"+testSID, SessionPK(testSID))
	p := Point{131, Origin(Transcript).Hash}
	require.Equal(t, testSID+"-s-t-0000000083-c-0123456789abcdef", ID(testSID, Transcript, Point{N: 119}, p, "0123456789abcdef"))
	require.Equal(t, testSID+"-h-0123456789abcdef", HistoryID(testSID, "0123456789abcdef"))
}

// TestNames: ids are names that each remote takes, those of a stream's segments are in the order
// of their ends, and no other ids are among them.
func TestNames(t *testing.T) {
	t.Parallel()
	streams := []Stream{Transcript, "e-1f3a9c02", "c-1f3a9c02", "c-1f3a9c02.2", "c-1f3a9c02.17", "h-1f3a9c02"}
	ends := []int64{1, 2, 9, 10, 15, 16, 17, 255, 256, 1 << 20, 1<<39 + 5}
	name := regexp.MustCompile(`^[a-z0-9-]{1,120}$`)
	all := []string{HeadID(testSID), HistoryID(testSID, testNonce), GoneID(testSID, testNonce), ChunkID(testSID, chunkName(nil, testNonce))}
	of := map[Stream][]string{}
	for _, st := range streams {
		for _, end := range ends {
			id := ID(testSID, st, Point{}, Point{N: end}, testNonce)
			all, of[st] = append(all, id), append(of[st], id)
		}
		require.True(t, slices.IsSorted(of[st]))
	}
	for _, id := range all {
		require.Regexp(t, name, id)
	}
	for _, st := range streams {
		for i, n := range ends {
			var got []string
			for _, id := range all {
				if strings.HasPrefix(id, SegmentPrefix(testSID, st)) && id > SegmentsAfter(testSID, st, n) {
					got = append(got, id)
				}
			}
			require.ElementsMatch(t, of[st][i+1:], got, "%s behind %d", st, n)
		}
	}
}

func TestTracker(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	key := []byte("key")
	tr := NewTracker(Transcript, key, nil)
	all := []Mark{tr.Mark()}
	p, turns := Origin(Transcript), 0
	for i := range 2500 {
		line, sent := []byte(`{"role":"assistant"}`), []byte(nil)
		if r.IntN(3) == 0 {
			line, sent = []byte(`{"role": "user","content":"my key"}`), []byte(`{"role": "user","content":"*"}`)
			turns++
		}
		tr.Add(line, sent)
		if sent == nil {
			sent = line
		}
		p = p.Add(sent)
		m := tr.Mark()
		require.Equal(t, p, m.Point())
		require.Equal(t, turns, m.Turn)
		require.Equal(t, all[i].Offset+int64(len(line))+1, m.Offset)
		require.Equal(t, all[i].Bytes+int64(len(sent))+1, m.Bytes)
		require.NotEqual(t, all[i].Raw, m.Raw)
		all = append(all, m)
		checkMarks(t, all, tr.Marks())
		if r.IntN(50) == 0 { // another process goes on
			tr = NewTracker(Transcript, key, throughJSON(t, tr.Marks()))
		}
	}
}

// checkMarks checks that marks are true, few, and dense towards the end.
func checkMarks(t *testing.T, all, marks []Mark) {
	n := int64(len(all) - 1)
	require.Equal(t, all[n], marks[len(marks)-1])
	require.LessOrEqual(t, len(marks), 52)
	for i, m := range marks {
		require.Equal(t, all[m.N], m)
		before := int64(0)
		if i > 0 {
			before = marks[i-1].N
		}
		require.Less(t, before, m.N)
		require.LessOrEqual(t, m.N-before, max(2*grid, n-before), "a gap")
		require.LessOrEqual(t, m.N-before, 2*grid+(n-m.N), "a gap is longer than what follows")
	}
}

func throughJSON(t *testing.T, in []Mark) (out []Mark) {
	text, err := json.Marshal(in)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &out))
	require.Equal(t, in, out)
	return out
}

func TestMarkText(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`{}`, `[]`, `[1,2,"a","b",3,4]`, `[1,2,3,4,5,6]`, `null`, `[-1,0,"` + Hash{}.String() + `","` + Hash{}.String() + `",0,0]`} {
		var m Mark
		require.Error(t, json.Unmarshal([]byte(bad), &m), bad)
	}
	marks := []Mark{{N: 16}, {N: 64}}
	_, ok := Floor(marks, 15)
	require.False(t, ok)
	for n, want := range map[int64]int64{16: 16, 63: 16, 64: 64, 99: 64} {
		m, ok := Floor(marks, n)
		require.True(t, ok)
		require.Equal(t, want, m.N)
	}
}

func TestRawChainNeedsTheKey(t *testing.T) {
	t.Parallel()
	raw := func(key []byte) Hash {
		tr := NewTracker(Transcript, key, nil)
		tr.Add([]byte("line"), nil)
		return tr.Mark().Raw
	}
	require.True(t, raw(nil).IsZero())
	require.NotEqual(t, raw([]byte("a")), raw([]byte("b")))
	require.Equal(t, raw([]byte("a")), raw([]byte("a")))
}
