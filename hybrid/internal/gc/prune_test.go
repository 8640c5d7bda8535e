package gc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

const events segment.Stream = "e-12345678"

// plant makes the session s with all that Prune must not harm, and much that it may
// remove.
func (w *world) plant() *writer {
	s := w.writer("s")
	for range 12 { // small segments
		require.NoError(w.t, s.add(segment.Transcript, w.text(2, 600)...))
		require.NoError(w.t, s.add(events, w.text(1, 500)...))
	}
	require.NoError(w.t, s.add(segment.Transcript, w.text(1, 300<<10)...)) // chunks
	require.NoError(w.t, s.rewrite(14, w.text(2, 600)...))
	require.NoError(w.t, s.cut(events, 7, w.text(2, 500)...))
	require.NoError(w.t, s.branch(5, w.text(1, 300<<10)...))
	require.NoError(w.t, s.branch(9, w.text(3, 600)...))
	require.NoError(w.t, s.file("config.md", []byte(w.text(1, 90<<10)[0])))
	require.NoError(w.t, s.file("config.md", []byte(w.text(1, 90<<10)[0]))) // the chunks of the first are garbage
	return s
}

// settle prunes until nothing is left to be done.
func (w *world) settle(id string) {
	w.t.Helper()
	for i := 0; ; i++ {
		require.Less(w.t, i, 10)
		time.Sleep(time.Hour)
		if r := w.prune(id); r.Merged+r.Removed+r.Waiting == 0 {
			return
		}
	}
}

// TestRemovesGarbageAlone prunes sessions with all kinds of documents at random.
// Everything that can be named reads as before, and of the rest nothing is left.
func TestRemovesGarbageAlone(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	for n := range testenv.Share(3, 10, testenv.Further(25, 100)) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, seed+uint64(n))
				s := w.plant()
				for range 20 + w.r.IntN(30) {
					w.step(s)
				}
				want, _ := w.readable("s")
				w.settle("s")
				got, read := w.readable("s")
				require.Equal(t, want, got)
				w.noGarbage("s", read)
			})
		})
	}
}

// step makes one change at random.
func (w *world) step(s *writer) {
	w.t.Helper()
	n := w.r.IntN(len(s.lines[segment.Transcript]) + 1)
	var err error
	switch w.r.IntN(8) {
	case 0:
		err = s.rewrite(n, w.text(w.r.IntN(3), 700)...)
	case 1:
		err = s.branch(n, w.text(1+w.r.IntN(3), 700)...)
	case 2:
		err = s.add(events, w.text(1, 10<<10)...)
	case 3:
		err = s.file("notes.md", []byte(w.text(1, 1+w.r.IntN(80<<10))[0]))
	case 4:
		w.prune("s")
	case 5:
		err = s.cut(events, w.r.IntN(len(s.lines[events])+1), w.text(1, 700)...)
	default:
		err = s.add(segment.Transcript, w.text(1+w.r.IntN(2), 700)...)
	}
	require.NoError(w.t, err)
	time.Sleep(time.Minute)
}

// noGarbage checks that the documents of a session that hold lines or tell of a history
// are the ones that were read by name.
func (w *world) noGarbage(id string, read map[string]bool) {
	w.t.Helper()
	all := w.documents(id)
	for _, kind := range []string{segment.TypeSegment, segment.TypeChunk, head.TypeHistory} {
		for _, id := range all[kind] {
			require.True(w.t, read[id], "%s is garbage", id)
		}
	}
}

// TestMergesAndExpires follows the numbers of a result through the times of the
// options.
func TestMergesAndExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		s := w.writer("s")
		for range 3 * MinRun {
			require.NoError(t, s.add(segment.Transcript, w.text(1, 500)...))
		}
		for range 150 {
			require.NoError(t, s.rewrite(20, w.text(1, 500)...))
		}
		ctx, o := context.Background(), Options{Grace: week, Retention: 30 * 24 * time.Hour}
		time.Sleep(2 * week)
		plan, err := Prune(ctx, w.session("s"), Options{Grace: o.Grace, Retention: o.Retention, Plan: true})
		require.NoError(t, err)
		before := w.documents("s")
		done, err := Prune(ctx, w.session("s"), o)
		require.NoError(t, err)
		require.Equal(t, []int{21, 1}, []int{done.Merged, done.Segments})
		require.Equal(t, []int{21, 1}, []int{plan.Merged, plan.Segments})
		require.Zero(t, done.Expired)
		require.Zero(t, done.Removed)
		require.Equal(t, done.Merged, done.Waiting, "what stands for the small ones is young")
		require.Len(t, w.documents("s")[segment.TypeSegment], len(before[segment.TypeSegment])+1)
		require.False(t, done.Due.IsZero())

		time.Sleep(time.Until(done.Due))
		r, err := Prune(ctx, w.session("s"), o)
		require.NoError(t, err)
		require.Positive(t, r.Removed, "at the time that it said")

		time.Sleep(31 * 24 * time.Hour)
		known := w.session("s")
		r, err = Prune(ctx, known, o)
		require.NoError(t, err)
		require.Equal(t, 150, r.Expired)
		require.Zero(t, known.Head.Head(sidOf("s")).Histories)
		w.settle("s")
		require.Empty(t, w.documents("s")[head.TypeHistory])
		require.Len(t, w.documents("s")[segment.TypeSegment], 1)
		_, err = Prune(ctx, known, o)
		require.NoError(t, err)
	})
}

// TestKeepsSomeFormerTips gives up the older half of many.
func TestKeepsSomeFormerTips(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 2)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(2, 500)...))
		for range 200 {
			time.Sleep(time.Hour)
			require.NoError(t, s.rewrite(1, w.text(1, 500)...))
		}
		known := w.session("s")
		r, err := Prune(context.Background(), known, Options{Grace: time.Nanosecond, Retention: 100*time.Hour + time.Minute})
		require.NoError(t, err)
		require.Equal(t, 99, r.Expired)
		names, _ := w.readable("s")
		require.Len(t, names, 1+101)
		former, err := w.reader().Histories(t.Context(), known.Head.Head(known.SID), known.Head.Version)
		require.NoError(t, err)
		require.Len(t, former, 101)
		require.Len(t, w.documents("s")[head.TypeHistory], 101)
	})
}

// TestLeavesDamageAlone prunes a session of which a segment is missing.
func TestLeavesDamageAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 3)
		w.plant()
		time.Sleep(time.Hour)
		infos, err := w.reader().Segments(t.Context(), &head.Head{SID: sidOf("s")}, segment.Transcript, 0)
		require.NoError(t, err)
		i := slices.IndexFunc(infos, func(in segment.Info) bool { return in.From.N == 2 })
		require.NoError(t, w.reader().Discard(t.Context(), infos[i].PK, []string{infos[i].ID}))
		before := w.documents("s")
		for range 3 {
			_, err = Prune(t.Context(), w.session("s"), Options{Grace: time.Nanosecond, Retention: -1})
			require.ErrorIs(t, err, remoteread.ErrDamaged)
			time.Sleep(time.Hour)
		}
		after := w.documents("s")
		require.Subset(t, after[segment.TypeSegment], transcripts(before[segment.TypeSegment]))
		require.Less(t, len(after[segment.TypeSegment]), len(before[segment.TypeSegment]), "the log is another stream")
	})
}

func transcripts(ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id[33:37] != "s-t-" })
}

// TestMergesNothingDamaged damages one of the segments that would be merged.
func TestMergesNothingDamaged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 14)
		s := w.writer("s")
		for range 2 * MinRun {
			require.NoError(t, s.add(segment.Transcript, w.text(1, 500)...))
		}
		ids := w.documents("s")[segment.TypeSegment]
		pk := segment.SessionPK(s.sid)
		var docs [2]*remote.Object
		for i := range docs {
			var err error
			docs[i], err = s.Get(t.Context(), pk, ids[i], "")
			require.NoError(t, err)
		}
		require.NotEqual(t, docs[0].Body, docs[1].Body)
		harmed := segment.Document{ID: ids[0], Label: docs[0].Label, Body: docs[1].Body} // lines of the right form that are not those
		_, err := s.Commit(t.Context(), pk, []segment.Document{harmed}, nil)
		require.NoError(t, err)
		time.Sleep(2 * week)
		r, err := Prune(t.Context(), w.session("s"), Options{Grace: time.Nanosecond, Retention: -1})
		require.ErrorIs(t, err, remoteread.ErrDamaged)
		require.Zero(t, r.Merged+r.Segments+r.Removed)
		require.Equal(t, ids, w.documents("s")[segment.TypeSegment])
	})
}

// TestStopsAtWhatIsNewer meets a segment of a version that it does not know.
func TestStopsAtWhatIsNewer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 15)
		s := w.plant()
		time.Sleep(time.Hour)
		newer := segment.Document{ID: segment.SegmentPrefix(s.sid, segment.Transcript) + "x", Label: []byte(`{"type":"seg","v":99}`)}
		_, err := s.Commit(t.Context(), segment.SessionPK(s.sid), []segment.Document{newer}, nil)
		require.NoError(t, err)
		session := w.session("s")
		session.Reader = &remoteread.Reader{Remote: &contending{w.c, func() { require.Fail(t, "a change") }}}
		_, err = Prune(t.Context(), session, Options{Grace: time.Nanosecond, Retention: -1})
		require.ErrorIs(t, err, segment.ErrNewer)
	})
}

// TestPlanRemovesNothing: a plan beside an interrupted removal changes nothing, and a Prune
// finishes that.
func TestPlanRemovesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 21)
		s := w.plant()
		time.Sleep(time.Hour)
		_, err := s.store(t.Context(), segment.Transcript, w.text(2, 600), 0)
		require.NoError(t, err)
		garbage := w.documents("s")[segment.TypeSegment]
		p := &pruner{s: w.session("s")}
		require.NoError(t, p.readHead(t.Context()))
		require.NoError(t, p.readHistories(t.Context()))
		i, err := p.list(t.Context())
		require.NoError(t, err)
		names := idsOf(i.garbage(i.live(), -time.Hour, &Result{}))
		require.NotEmpty(t, names)
		require.NoError(t, p.condemn(t.Context(), nil, names))
		before, want := w.documents("s"), p.s.Head
		_, err = Prune(t.Context(), w.session("s"), Options{Grace: time.Nanosecond, Retention: -1, Plan: true})
		require.NoError(t, err)
		require.Equal(t, before, w.documents("s"))
		doc, err := s.HeadDocument(t.Context(), s.sid)
		require.NoError(t, err)
		require.Equal(t, want.Version, doc.Version)
		w.prune("s")
		for _, id := range names {
			require.NotContains(t, slices.Concat(slices.Collect(maps.Values(w.documents("s")))...), id)
		}
		require.NotEqual(t, garbage, w.documents("s")[segment.TypeSegment])
	})
}

// TestStrayHistories: a history that no head came to name is not seen, and goes when it is
// older than the grace time.
func TestStrayHistories(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, o := newWorld(t, 22), Options{Grace: time.Hour, Retention: -1}
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(2, 600)...))
		require.NoError(t, s.rewrite(1, w.text(1, 600)...))
		want, _ := w.readable("s")
		named := w.documents("s")[head.TypeHistory]
		time.Sleep(2 * o.Grace)
		require.ErrorIs(t, s.change(func(ctx context.Context, next *head.Head) error {
			err := s.leave(next, segment.Transcript, next.Transcript, head.WhyBranch)
			_, failed := s.Commit(ctx, segment.SessionPK(s.sid), s.beside, nil)
			require.NoError(t, errors.Join(err, failed))
			return errNothing
		}), errNothing)
		for _, age := range []time.Duration{0, 2 * o.Grace} {
			time.Sleep(age)
			got, _ := w.readable("s")
			require.Equal(t, want, got)
			r, err := Prune(t.Context(), w.session("s"), o)
			require.NoError(t, err)
			if age == 0 {
				require.Equal(t, []int{1, 0}, []int{r.Waiting, r.Removed})
				require.Len(t, w.documents("s")[head.TypeHistory], 2)
				continue
			}
			require.Equal(t, []int{0, 1}, []int{r.Waiting, r.Removed})
		}
		require.Equal(t, named, w.documents("s")[head.TypeHistory])
		got, _ := w.readable("s")
		require.Equal(t, want, got)
	})
}

// TestMostFormerHeads: of more former heads than a head names, the oldest go.
func TestMostFormerHeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const more = 3
		w := newWorld(t, 23)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(1, 30)...))
		require.NoError(t, s.branch(0, w.text(2, 30)...))
		for range more + head.MaxFormer {
			require.NoError(t, s.rewrite(0, w.text(1, 30)...))
		}
		require.Len(t, w.documents("s")[head.TypeHistory], 1+more+head.MaxFormer)
		time.Sleep(time.Hour)
		require.Equal(t, 2*more, w.prune("s").Removed, "with a segment each")
		all, err := s.Histories(t.Context(), s.tip, "")
		require.NoError(t, err)
		require.Len(t, all, 1+head.MaxFormer)
		require.Len(t, w.documents("s")[head.TypeHistory], 1+head.MaxFormer)
		require.Len(t, w.documents("s")[segment.TypeSegment], 2+head.MaxFormer)
	})
}
