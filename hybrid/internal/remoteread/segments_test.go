package remoteread_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/memremote"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// cut returns a document for each of so many lines of a stream.
func cut(t *testing.T, st segment.Stream, n int) (docs []segment.Document) {
	t.Helper()
	c := segment.NewCutter(segment.Options{SID: sid, Target: 1}, segment.From{Stream: st, Mark: segment.Begin(st)})
	for d, err := range c.Documents(func(yield func([]byte, error) bool) {
		for i := range n {
			if !yield(fmt.Appendf(nil, `{"role":"user","content":%d}`, i), nil) {
				return
			}
		}
	}) {
		require.NoError(t, err)
		docs = append(docs, d)
	}
	require.Len(t, docs, n)
	return docs
}

// TestSegments lists the segments of one stream behind a record, without those that are
// condemned or of other tools.
func TestSegments(t *testing.T) {
	t.Parallel()
	c := &memremote.Remote{}
	r := &remoteread.Reader{Remote: c}
	streams := []segment.Stream{segment.Transcript, "c-1f3a9c02", "c-1f3a9c02.2", "c-1f3a9c02.17", "e-1f3a9c02"}
	const n = 40
	var condemned string
	for _, st := range streams {
		docs := cut(t, st, n)
		require.NoError(t, r.Store(t.Context(), segment.SessionPK(sid), docs))
		condemned = docs[7].ID
	}
	require.Equal(t, remoteread.Usage{Requests: len(streams) * n, Documents: len(streams) * n, Bytes: r.Usage().Bytes}, r.Usage())
	raw(t, c, segment.Document{ID: segment.SegmentPrefix(sid, segment.Transcript) + "zz", Label: []byte(`{"type":"note"}`)})
	h := &head.Head{SID: sid}
	ends := func(st segment.Stream, from int64) (ends []int64) {
		infos, err := r.Segments(t.Context(), h, st, from)
		require.NoError(t, err)
		for _, in := range infos {
			require.Equal(t, st, in.Stream)
			ends = append(ends, in.To.N)
		}
		return ends
	}
	for _, st := range streams {
		for _, from := range []int64{0, 1, 15, 16, 39, 40, 1 << 30} {
			var want []int64
			for end := from + 1; end <= n; end++ {
				want = append(want, end)
			}
			require.Equal(t, want, ends(st, from), "%s behind %d", st, from)
		}
	}
	g := head.Gone{ID: segment.GoneID(sid, "0123456789abcdef"), Names: []string{condemned}}
	doc, err := g.Encode(sid)
	require.NoError(t, err)
	raw(t, c, doc)
	h.Gone = []string{g.ID, segment.GoneID(sid, "fedcba9876543210")} // the other one is lost
	require.Equal(t, []int64{7, 9, 10}, ends("e-1f3a9c02", 6)[:3])

	raw(t, c, segment.Document{ID: segment.SegmentPrefix(sid, segment.Transcript) + "zzz", Label: []byte(`{"type":"seg","v":99}`)})
	_, err = r.Segments(t.Context(), h, segment.Transcript, 0)
	require.ErrorIs(t, err, segment.ErrNewer)
}

// TestStoreEnds: when a document cannot be stored, the others that wait are not stored either.
func TestStoreEnds(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{true, false} {
		refused, made := errors.New("refused"), atomic.Int64{}
		c := &memremote.Remote{Refuse: func() error {
			if made.Add(1) > 3 {
				return refused
			}
			return nil
		}}
		r := &remoteread.Reader{Remote: c, Alone: alone}
		require.ErrorIs(t, r.Store(t.Context(), segment.SessionPK(sid), cut(t, segment.Transcript, 100)), refused)
		require.Equal(t, 3, r.Usage().Documents)
		require.LessOrEqual(t, made.Load(), int64(4+8), "of 100")
		require.NoError(t, r.Store(t.Context(), segment.SessionPK(sid), nil))
	}
}

// TestFits compares with what the remote does whole.
func TestFits(t *testing.T) {
	t.Parallel()
	r := &remoteread.Reader{Remote: &memremote.Remote{}}
	swap := remoteread.Swap(segment.Document{ID: "head", Label: []byte("{}"), Body: make([]byte, 1000)}, "")
	small := segment.Document{ID: "x", Label: []byte("{}"), Body: []byte("x")}
	room := r.Batch(t.Context())
	fits := func(docs ...segment.Document) bool { return r.Fits(t.Context(), docs, swap) }
	require.True(t, fits(slices.Repeat([]segment.Document{small}, room.Objects-1)...))
	require.False(t, fits(slices.Repeat([]segment.Document{small}, room.Objects)...))
	swap.Remove = []string{"a", "b"}
	require.True(t, fits(slices.Repeat([]segment.Document{small}, room.Objects-3)...))
	require.False(t, fits(slices.Repeat([]segment.Document{small}, room.Objects-2)...))
	large := small
	large.Body = make([]byte, room.Bytes*3/4)
	require.False(t, fits(large))
	large.Body = large.Body[:len(large.Body)-2000]
	require.True(t, fits(large))
	require.False(t, (&remoteread.Reader{Remote: apart{r.Remote}}).Fits(t.Context(), nil, swap), "where nothing is done whole")
}

// apart is a remote that does nothing whole.
type apart struct{ remote.Remote }

func (apart) Info(context.Context) (remote.Info, error) { return remote.Info{}, nil }

// answers is a remote that makes a swap and loses its answer, so many times.
type answers struct {
	remote.Remote
	lost int
}

func (a *answers) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	v, err := a.Remote.Commit(ctx, part, objects, swap)
	if a.lost--; err == nil && a.lost >= 0 {
		return "", remote.ErrUnknown
	}
	return v, err
}

// TestWriteEntry: an entry takes the place of an older one, whatever this device knows of it.
func TestWriteEntry(t *testing.T) {
	t.Parallel()
	a := &answers{Remote: &memremote.Remote{}}
	r := &remoteread.Reader{Remote: a}
	id := segment.Identity{User: "ada", Project: "demo", Session: "s"}
	write := func(revision int64, last remote.Version) (remote.Version, error) {
		e := head.Catalogue{SID: id.SID(), UID: id.UID(), Revision: revision, Session: "s", Project: "demo", Name: fmt.Sprint("name ", revision)}
		return r.WriteEntry(t.Context(), &e, last)
	}
	is := func(revision int64, v remote.Version) {
		t.Helper()
		e, err := r.EntryOf(t.Context(), id.UID(), id.SID())
		require.NoError(t, err)
		require.Equal(t, revision, e.Revision)
		require.Equal(t, v, e.Version)
		n := 0
		for same, err := range r.Entries(t.Context(), id.UID(), "", time.Time{}) {
			require.NoError(t, err)
			require.Equal(t, *e, same)
			n++
		}
		require.Equal(t, 1, n)
	}
	none, err := r.EntryOf(t.Context(), id.UID(), id.SID())
	require.NoError(t, err)
	require.Nil(t, none)
	one, err := write(1, "")
	require.NoError(t, err)
	is(1, one)
	three, err := write(3, one)
	require.NoError(t, err)
	is(3, three)
	for _, last := range []remote.Version{"", one} { // what is known is older
		v, err := write(2, last)
		require.NoError(t, err)
		require.Equal(t, three, v)
		is(3, three)
	}
	four, err := write(4, one)
	require.NoError(t, err)
	is(4, four)
	a.lost = 1
	five, err := write(5, four)
	require.NoError(t, err)
	is(5, five)
	_, err = a.Remote.Commit(t.Context(), segment.UserPK(id.UID()), []remote.Object{{Name: "note", Label: []byte(`{"type":"note"}`)}}, nil)
	require.NoError(t, err)
	is(5, five)
}
