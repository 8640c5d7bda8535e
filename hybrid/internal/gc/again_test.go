package gc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// repeats returns an actor that makes a request again that stored a document.
func repeats(name string, o func() remote.Object) actor {
	return actor{name: name, do: func(w *world) error {
		_, err := w.dial().Commit(context.Background(), segment.SessionPK(sidOf("s")), []remote.Object{o()}, nil)
		return err
	}}
}

// deletes returns an actor that deletes the session before it does what another does.
func deletes(a actor) actor {
	do := a.do
	a.do = func(w *world) error {
		if err := w.writer("s").delete(false); err != nil {
			return err
		}
		return do(w)
	}
	return a
}

// ordersAgain are searches in which a request is made again, or is late, by more than a grace
// time. What one removes late, another device may read until then.
func ordersAgain(t *testing.T, falls bool) map[string]*search {
	all := map[string]*search{}
	of := func(removals bool, before func(w *world, s *writer) error, actors ...actor) *search {
		return ordersOf(t, falls, removals, before, actors...)
	}
	whole := func(a actor) actor { a.whole = true; return a }
	ab := lines("a", "b")
	push := func(lines ...string) actor {
		a := stores("push", 1, false, lines...)
		a.reads = true
		return a
	}
	for form, ab := range map[string][]string{"segment": ab, "chunk": lines("a", strings.Repeat("b", 260<<10))} {
		var ids []string
		stored := map[string]remote.Object{}
		// The head leads to a. A device stored the line b and sleeps, before it makes the first of the
		// requests again that stored it. A prune condemned the line, and sleeps before it removes
		// that document; another prune has removed it.
		removed := func(w *world, s *writer) error {
			ctx, pk := context.Background(), segment.SessionPK(s.sid)
			err := errors.Join(s.add(segment.Transcript, ab[:1]...), s.each(ctx, &head.Head{}, ab, 1, &ids))
			for _, id := range ids {
				o, unread := w.c.Get(ctx, pk, id, "")
				err, stored[id] = errors.Join(err, unread), o
			}
			return errors.Join(err, s.Discard(ctx, pk, ids[:1]))
		}
		h := prunes("h", -1)
		h.whole = form == "chunk" // or it takes long
		all["a "+form+" is stored again and removed again"] = of(false, removed, push(ab...), h,
			repeats("repeat", func() remote.Object { return stored[ids[0]] }), removes("g", func() []string { return slices.Clone(ids[:1]) }))
	}
	only := func(_ *world, s *writer) error { return s.add(segment.Transcript, ab[:1]...) }
	deleted := func(_ *world, s *writer) error { return errors.Join(s.add(segment.Transcript, ab...), s.delete(false)) }
	recreate := stores("recreate", 0, true, ab...)
	all["a removal and a recreate"] = of(true, deleted, removals("p"), recreate, whole(prunes("h", -1)))
	mergedOnce := func(_ *world, s *writer) error {
		return errors.Join(s.storeMerged(context.Background(), ab), s.add(segment.Transcript, ab...), s.delete(false))
	}
	all["a removal of what was merged, and a recreate"] = of(true, mergedOnce, removals("p"), recreate, whole(prunes("h", -1)))
	all["a push leaves what it stored"] = of(true, only, push(ab...), deletes(recreate), whole(prunes("h", -1)))
	if testenv.All() {
		again := push(ab...)
		again.loses, again.again = 1, true
		all["two prunes and a push"] = of(false, only, again, prunes("g", -1), whole(prunes("h", -1)), whole(prunes("i", -1)))
	}
	return all
}

// TestOrdersAgain: nothing is lost where requests are made again, or late, by more than a
// grace time.
func TestOrdersAgain(t *testing.T) {
	t.Parallel()
	for _, falls := range []bool{false, true} {
		for name, s := range ordersAgain(t, falls) {
			t.Run(fmt.Sprintf("%s, names fall: %v", name, falls), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := *s
					s.t = t
					require.Empty(t, s.run())
					t.Logf("%d states", len(s.seen))
				})
			})
		}
	}
}

// TestOrdersAgainWithoutTheRule: where what a writer stored, or what was merged before a session
// was sent anew, takes the place of other segments, each of these searches finds a loss.
func TestOrdersAgainWithoutTheRule(t *testing.T) {
	t.Parallel()
	for name := range ordersAgain(t, false) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				found, rule := "", mergedCover
				if strings.Contains(name, "merged") {
					rule = bornCover
				}
				for _, falls := range []bool{false, true} {
					if s := ordersAgain(t, falls)[name]; found == "" {
						s.through = func(g *turns) remote.Remote { return &without{g, rule} }
						found = s.run()
					}
				}
				require.NotEmpty(t, found)
				t.Log(found)
			})
		})
	}
}

// TestMergesNoChunks: a segment that needs a chunk is not merged. The chunk may be one that a
// late request removes.
func TestMergesNoChunks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 21)
		s := w.writer("s")
		for n := range 2*MinRun + 1 {
			size := 2 << 10
			if n == MinRun {
				size = 400 << 10
			}
			require.NoError(t, s.add(events, w.text(1, size)...))
		}
		want, _ := w.readable("s")
		time.Sleep(time.Minute)
		require.Equal(t, 2*MinRun, w.prune("s").Merged)
		w.settle("s")
		chunks := 0
		for _, in := range w.infos("s") {
			require.True(t, in.Merged == "" || len(in.Chunks) == 0)
			chunks += len(in.Chunks)
		}
		require.Positive(t, chunks)
		got, _ := w.readable("s")
		require.Equal(t, want, got)
	})
}

// TestSameLinesTwice: of two segments of writers with the same lines both stay, until one of them
// lacks a chunk.
func TestSameLinesTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 22)
		s := w.writer("s")
		text := w.text(1, 300<<10)
		_, err := s.store(t.Context(), segment.Transcript, text, 0)
		require.NoError(t, err)
		first := w.documents("s")[segment.TypeChunk]
		require.NoError(t, s.add(segment.Transcript, text...))
		w.settle("s")
		require.Len(t, w.documents("s")[segment.TypeSegment], 2)
		require.NoError(t, s.Discard(t.Context(), segment.SessionPK(s.sid), first[:1]))
		w.settle("s")
		require.Len(t, w.documents("s")[segment.TypeSegment], 1)
		_, read := w.readable("s")
		w.noGarbage("s", read)
	})
}
