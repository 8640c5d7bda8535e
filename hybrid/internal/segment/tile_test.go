package segment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// world is a stream with several histories in random segments.
type world struct {
	*require.Assertions
	t         *testing.T
	r         *rand.Rand
	st        Stream
	s         *shelf
	histories [][][]byte
	hurt      map[string]bool // keys of documents that were damaged or removed
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{require.New(t), t, rand.New(rand.NewPCG(seed, 9)), Transcript, newShelf(), nil, map[string]bool{}}
	if seed%2 == 1 {
		w.st = LogStream(KindEvents, "1f3a9c02", 1)
	}
	for range 1 + w.r.IntN(3) {
		var h [][]byte
		if len(w.histories) > 0 {
			old := w.histories[w.r.IntN(len(w.histories))]
			h = append(h, old[:w.r.IntN(len(old)+1)]...)
		}
		for range 1 + w.r.IntN(20) {
			h = append(h, w.line(h))
		}
		w.histories = append(w.histories, h)
	}
	for range len(w.histories) * (1 + w.r.IntN(3)) {
		w.cut(w.histories[w.r.IntN(len(w.histories))])
	}
	return w
}

// line makes a line, sometimes long and like the one before.
func (w *world) line(before [][]byte) []byte {
	line := fmt.Appendf(nil, `{"role":"user","n":%d}`, w.r.IntN(1000))
	if w.r.IntN(4) > 0 {
		return line
	}
	for i := len(before) - 1; i >= 0; i-- {
		if len(before[i]) > largeMin && w.r.IntN(3) > 0 {
			return append(line, before[i]...)
		}
	}
	return append(line, random(w.r, largeMin)...)
}

// cut stores a part of a history in segments of random lengths.
func (w *world) cut(h [][]byte) {
	begin := 0
	if w.r.IntN(2) == 0 {
		begin = w.r.IntN(len(h))
	}
	end := begin + w.r.IntN(len(h)-begin+1)
	if w.r.IntN(2) == 0 {
		end = len(h)
	}
	from := w.at(h, begin)
	for begin < end {
		n := min(end-begin, 1+w.r.IntN(6))
		if w.r.IntN(5) == 0 {
			from.Large = nil // a writer that forgot
		}
		from = w.s.store(w.t, Options{Target: Capacity}, from, h[begin:begin+n])
		begin += n
	}
}

// at returns the place behind n lines of h.
func (w *world) at(h [][]byte, n int) From {
	tr := NewTracker(w.st, nil, nil)
	for _, l := range h[:n] {
		tr.Add(l, nil)
	}
	return From{Stream: w.st, Mark: tr.Mark()}
}

func (w *world) point(h [][]byte, n int) Point { return w.at(h, n).Mark.Point() }

// hurts damages or removes a document.
func (w *world) hurts() {
	keys := make([]string, 0, len(w.s.docs))
	for k := range w.s.docs {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return
	}
	slices.Sort(keys)
	k := keys[w.r.IntN(len(keys))]
	w.hurt[k] = true
	d := w.s.docs[k]
	var label map[string]any
	dec := json.NewDecoder(bytes.NewReader(d.Label))
	dec.UseNumber()
	w.NoError(dec.Decode(&label))
	switch w.r.IntN(4) {
	case 0:
		delete(w.s.docs, k)
		return
	case 1:
		d.Body = nil
	case 2:
		label["z"], d.Body = "zstd", []byte{0, 0, 0, 0}
	case 3:
		line := row{data: []byte(`{"role":"user","n":"damaged"}`)}
		d.Body = nil
		if n, ok := label["n"].(json.Number); ok {
			count, _ := n.Int64()
			data, err := compress(join(slices.Repeat([]row{line}, int(count))))
			w.NoError(err)
			label["z"], d.Body = formZstd, append([]byte{0}, data...)
		}
		delete(label, "chunks")
	}
	var err error
	d.Label, err = json.Marshal(label)
	w.NoError(err)
	w.s.docs[k] = d
}

// covered tells of each record of h whether an undamaged segment holds it.
func (w *world) covered(h [][]byte, infos []Info) []bool {
	out := make([]bool, len(h))
	for _, in := range infos {
		if w.hurt[in.PK+" "+in.ID] {
			continue
		}
		for i := in.From.N; i < min(in.To.N, int64(len(h))); i++ {
			if in.knows(w.point(h, int(i)+1)) {
				out[i] = true
			}
		}
	}
	return out
}

// TestReadingAnything: whatever segments there are, a history can be read if
// undamaged segments hold each of its records, and is never read wrongly.
func TestReadingAnything(t *testing.T) {
	t.Parallel()
	seeds := testenv.Share[uint64](15, 40, 400)
	outcome := map[string]int{}
	begin := testenv.Seed(t)
	// A record that was damaged and is met is rare: a few seeds more find one.
	for seed := begin; seed < begin+seeds || outcome["damaged"] == 0 && seed < begin+1000; seed++ {
		w := newWorld(t, seed)
		all := w.s.infos(t, w.st)
		for range w.r.IntN(3) {
			w.hurts()
		}
		infos := slices.DeleteFunc(slices.Clone(all), func(in Info) bool { return w.hurt[in.PK+" "+in.ID] && w.r.IntN(2) == 0 })
		w.r.Shuffle(len(infos), func(i, j int) { infos[i], infos[j] = infos[j], infos[i] })
		if len(infos) > 0 && w.r.IntN(3) == 0 {
			infos = append(infos, infos[w.r.IntN(len(infos))])
		}
		for i, h := range w.histories {
			outcome[w.check(h, infos, fmt.Sprintf("seed %d, history %d", seed, i))]++
		}
	}
	t.Log(outcome)
	for _, kind := range []string{"whole", "gap", "damaged"} {
		require.Positive(t, outcome[kind], kind)
	}
}

func (w *world) check(h [][]byte, infos []Info, name string) string {
	begin := 0
	if w.st == Transcript {
		begin = w.r.IntN(len(h))
	}
	got, err := collect(Lines(w.s, w.st, infos, w.point(h, begin), w.point(h, len(h)), nil))
	for i, line := range got {
		w.True(bytes.Equal(h[begin+i], line), "%s: line %d", name, begin+i)
	}
	covered := w.covered(h, infos)
	missing := slices.Index(covered[begin:], false) >= 0
	w.Equal(missing, err != nil, "%s: %v", name, err)
	if err == nil {
		w.Len(got, len(h)-begin, name)
		return "whole"
	}
	var gap *GapError
	w.True(errors.As(err, &gap), "%s: %v", name, err)
	w.Equal(w.st, gap.Stream)
	w.Less(gap.From, gap.To, name)
	w.GreaterOrEqual(gap.From, int64(begin), name)
	w.False(covered[gap.To-1], "%s: record %d is there", name, gap.To-1)
	if errors.Is(err, ErrDamaged) {
		w.Contains(err.Error(), gap.Damage.ID)
		return "damaged"
	}
	return "gap"
}

func TestOffside(t *testing.T) {
	t.Parallel()
	s := newShelf()
	lines := [][]byte{[]byte("a"), []byte("b"), []byte("c")}
	end := s.store(t, Options{}, start(Transcript), lines).Mark.Point()
	infos := s.infos(t, Transcript)
	other := Origin(Transcript).Add([]byte("x"))
	for _, from := range []Point{other, other.Add([]byte("b")), {N: 3}, {N: 4}, {N: 0}} {
		_, err := Tile(Transcript, infos, from, end)
		require.ErrorIs(t, err, ErrOffside, "%v", from)
	}
	spans, err := Tile(Transcript, infos, end, end)
	require.NoError(t, err)
	require.Empty(t, spans)
	_, err = Tile(Transcript, nil, Origin(Transcript), end)
	require.ErrorIs(t, err, ErrGap)
	require.EqualError(t, err, "read stream t: no segment for records 0 up to 3")
}

func TestCommon(t *testing.T) {
	t.Parallel()
	begin := testenv.Seed(t)
	for seed := begin; seed < begin+60; seed++ {
		w := newWorld(t, seed*2)
		h := w.histories[0]
		w.s.store(t, Options{}, start(w.st), h)
		spans, err := Tile(w.st, w.s.infos(t, w.st), Origin(w.st), w.point(h, len(h)))
		w.NoError(err)
		n := w.r.IntN(len(h) + 1)
		mine := append(slices.Clone(h[:n]), slices.Repeat([][]byte{[]byte("mine")}, w.r.IntN(30))...)
		asked := 0
		got, err := Common(spans, int64(len(mine)), func(n int64) (Hash, error) {
			asked++
			return w.point(mine, int(n)).Hash, nil
		})
		w.NoError(err)
		w.EqualValues(n, got, "seed %d", seed)
		w.LessOrEqual(asked, 7)
		broken := errors.New("cable cut")
		_, err = Common(spans, int64(len(mine)), func(int64) (Hash, error) { return Hash{}, broken })
		w.True(len(mine) == 0 || errors.Is(err, broken))
	}
}

// TestLast finds the segment that goes furthest back from the end of the transcript.
func TestLast(t *testing.T) {
	t.Parallel()
	s := newShelf()
	one := s.store(t, Options{Target: 1}, start(Transcript), session()[:3])
	end := s.store(t, Options{}, one, session()[3:])
	infos := s.infos(t, Transcript)
	from, err := Last(infos, end.Mark.Point())
	require.NoError(t, err)
	require.Equal(t, one.Mark.Point(), from)
	from, err = Last(infos, one.Mark.Point())
	require.NoError(t, err)
	require.Equal(t, int64(2), from.N)
	_, err = Last(infos, Point{N: end.Mark.N + 1})
	require.ErrorIs(t, err, ErrGap)
	from, err = Last(nil, Origin(Transcript))
	require.NoError(t, err)
	require.Equal(t, Origin(Transcript), from)
}
