package record_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/record"
)

func write(off int64, text string) record.Entry {
	return record.Entry{Kind: record.Write, Off: off, Len: int64(len(text)), Data: []byte(text)}
}

var flush = record.Entry{Kind: record.Flush}

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// read returns n bytes of an image.
func read(m record.Image, off, n int64) string {
	out := make([]byte, n)
	for i := range out {
		if b := m[(off+int64(i))/record.Block]; b != nil {
			out[i] = b[(off+int64(i))%record.Block]
		}
	}
	return string(out)
}

func TestParseReadsWhatWasWritten(t *testing.T) {
	t.Parallel()
	all := []record.Entry{write(7, "abc"), flush, {Kind: record.Zero, Off: 4096, Len: 1 << 30}, write(0, "")}
	var b bytes.Buffer
	for _, e := range all {
		_, err := e.WriteTo(&b)
		require.NoError(t, err)
	}
	got, err := record.Parse(b.Bytes())
	require.NoError(t, err)
	require.Len(t, got, len(all))
	for i, e := range got {
		require.Equal(t, all[i].Kind, e.Kind)
		require.Equal(t, all[i].Off, e.Off)
		require.Equal(t, all[i].Len, e.Len)
		require.True(t, bytes.Equal(all[i].Data, e.Data))
	}
	for n := range b.Len() {
		if _, err := record.Parse(b.Bytes()[:n]); err == nil {
			require.Contains(t, []int{0, 20, 37, 54}, n, "a cut record is no error at %d", n)
		}
	}
}

func TestParseRefusesWhatIsNoEntry(t *testing.T) {
	t.Parallel()
	_, err := record.Parse(make([]byte, 17))
	require.ErrorContains(t, err, "unknown kind")
	_, err = record.Parse(append([]byte("F"), bytes.Repeat([]byte{0xff}, 16)...))
	require.ErrorContains(t, err, "negative")
}

func TestImage(t *testing.T) {
	t.Parallel()
	m := record.Image{}
	m.Apply(write(4094, "abcd"))
	before := m.Clone()
	require.Equal(t, "\x00abcd\x00", read(m, 4093, 6))
	m.Apply(record.Entry{Kind: record.Zero, Off: 4095, Len: 2})
	require.Equal(t, "a\x00\x00d", read(m, 4094, 4))
	m.Apply(record.Entry{Kind: record.Zero, Off: 4097, Len: 1 << 40})
	require.Equal(t, "a\x00\x00\x00", read(m, 4094, 4))
	require.Equal(t, "abcd", read(before, 4094, 4), "a clone shares no changes")
	m.Apply(write(0, string(make([]byte, record.Block))))
	require.NotContains(t, m, int64(0), "a block of zeros takes no room")
}

func TestSurvivors(t *testing.T) {
	t.Parallel()
	pending := []record.Entry{write(100, "first"), write(500, string(bytes.Repeat([]byte("x"), 9000))), write(9500, "third")}
	require.Empty(t, record.Strategy("none").Survivors(pending, 512, rng()))
	require.Equal(t, pending, record.Strategy("all").Survivors(pending, 512, rng()))
	for _, s := range record.Strategies {
		r := rng()
		for range 50 {
			for _, e := range s.Survivors(pending, 512, r) {
				i := slices.IndexFunc(pending, func(p record.Entry) bool { return e.Off >= p.Off && e.Off+e.Len <= p.Off+p.Len })
				require.GreaterOrEqual(t, i, 0, "%s: made up", s)
				from := e.Off - pending[i].Off
				require.Equal(t, pending[i].Data[from:from+e.Len], e.Data, string(s))
			}
		}
	}
	for s, size := range map[record.Strategy]int64{"torn": 4096, "sectors": 512} {
		for _, e := range s.Survivors(pending, 512, rng()) {
			require.Equal(t, e.Off/size, (e.Off+e.Len-1)/size, "%s: a piece lies in two blocks", s)
		}
	}
	for range 50 {
		for _, e := range record.Strategy("sectors").Survivors([]record.Entry{write(4096, string(make([]byte, 4096)))}, 4096, rng()) {
			require.Equal(t, int64(4096), e.Len, "a sector is torn")
		}
	}
}

func TestCrashKeepsWhatWasFlushed(t *testing.T) {
	t.Parallel()
	all := []record.Entry{write(0, "a"), flush, write(1, "b"), write(2, "c"), flush, write(3, "d")}
	want := []string{"....", "....", "a...", "a...", "a...", "abc.", "abc."} // at least, with "none"
	most := []string{"....", "a...", "a...", "ab..", "abc.", "abc.", "abcd"} // with "all"
	none, full := record.NewReplay(record.Image{}, all), record.NewReplay(record.Image{}, all)
	for cut := range len(all) + 1 {
		disk, _ := none.Crash(record.State{Cut: cut, Strategy: "none"})
		require.Equal(t, want[cut], dots(read(disk, 0, 4)), "cut %d", cut)
		disk, _ = full.Crash(record.State{Cut: cut, Strategy: "all"})
		require.Equal(t, most[cut], dots(read(disk, 0, 4)), "cut %d", cut)
	}
	start := record.Image{}
	start.Apply(write(3, "z"))
	disk, pending := record.NewReplay(start, all).Crash(record.State{Cut: 4, Strategy: "none"})
	require.Equal(t, "a..z", dots(read(disk, 0, 4)))
	require.Equal(t, 2, pending)
}

func TestLyingDiskLosesWhatWasFlushed(t *testing.T) {
	t.Parallel()
	all := []record.Entry{write(0, "a"), flush, write(1, "b"), flush}
	r := record.NewReplay(record.Image{}, all)
	r.Lies = true
	disk, _ := r.Crash(record.State{Cut: 4, Strategy: "none"})
	require.Equal(t, "....", dots(read(disk, 0, 4)))
}

func TestChoose(t *testing.T) {
	t.Parallel()
	var all []record.Entry
	for i := range 200 {
		all = append(all, write(int64(i), "x"))
		if i%10 == 9 {
			all = append(all, flush)
		}
	}
	spans := []record.Span{{20, 30}, {50, 50}, {100, 160}}
	states := record.Choose(all, spans, 300, rng())
	require.Len(t, states, 300)
	require.Equal(t, states, record.Choose(all, spans, 300, rng()), "equal seeds, equal states")
	require.True(t, slices.IsSortedFunc(states, func(a, b record.State) int { return a.Cut - b.Cut }))
	beforeFlush, used := 0, map[record.Strategy]int{}
	for _, s := range states {
		require.LessOrEqual(t, s.Cut, len(all))
		require.GreaterOrEqual(t, s.Cut, 20)
		used[s.Strategy]++
		if s.Cut < len(all) && all[s.Cut].Kind == record.Flush {
			beforeFlush++
		}
		again, err := record.ParseState(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
	}
	require.Len(t, used, len(record.Strategies))
	require.Greater(t, beforeFlush, 60)
	_, err := record.ParseState("1 nothing 2")
	require.Error(t, err)
}

func dots(s string) string { return string(bytes.ReplaceAll([]byte(s), []byte{0}, []byte("."))) }
