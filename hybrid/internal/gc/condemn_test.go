package gc

import (
	"context"
	"encoding/json"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// condemns makes a head that condemns documents, as a device does that is killed then, and
// returns the id of the document with the names.
func (w *writer) condemns(names ...string) string {
	w.t.Helper()
	gone := head.Gone{ID: segment.GoneID(w.sid, w.draw()), Names: names}
	doc, err := gone.Encode(w.sid)
	require.NoError(w.t, err)
	require.NoError(w.t, w.change(func(_ context.Context, next *head.Head) error {
		next.Gone = append(next.Gone, gone.ID)
		w.beside = append(w.beside, doc)
		return nil
	}))
	return gone.ID
}

// stale is a remote whose lists come from a replica that lags.
type stale struct {
	remote.Remote
	old remote.Remote
}

func (s *stale) List(ctx context.Context, part string, q remote.Query) iter.Seq2[remote.Object, error] {
	return s.old.List(ctx, part, q)
}

// TestListOlderThanARemoval: a device mended a segment and was killed. A prune removes the
// damaged one, and its list of documents still has it: what took its place stays.
func TestListOlderThanARemoval(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 100+seed)
			w.name = string(rune('a' + seed))
			s, ab := w.writer("s"), lines("a", "b")
			require.NoError(t, s.add(segment.Transcript, ab...))
			damaged := w.documents("s")[segment.TypeSegment][0]
			s.harm(damaged)
			_, err := s.store(t.Context(), segment.Transcript, ab, 0)
			require.NoError(t, err)
			s.condemns(damaged)
			time.Sleep(4 * week)
			old := w.c.Clone()
			w.dial = func() remote.Remote { return &stale{w.c, old} }
			_, err = Prune(t.Context(), w.session("s"), Options{Grace: week, Retention: -1})
			require.ErrorIs(t, err, remoteread.ErrContended)
			w.dial = func() remote.Remote { return w.c }
			p := &pruner{s: w.session("s")}
			require.NoError(t, p.readHead(t.Context()))
			require.NoError(t, p.finish(t.Context()))
			require.NoError(t, p.read())
		})
	}
}

// TestFinishWithoutHistory: a lost history does not keep what is condemned.
func TestFinishWithoutHistory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, lines("a", "b")...))
		require.NoError(t, s.rewrite(1, lines("c")...))
		lost := w.documents("s")[head.TypeHistory]
		require.NoError(t, w.reader().Discard(t.Context(), segment.SessionPK(s.sid), lost))
		s.condemns(w.documents("s")[segment.TypeSegment][0])
		require.NoError(t, Finish(t.Context(), w.session("s")))
		now, _, err := w.reader().Head(t.Context(), s.sid, remoteread.Known{})
		require.NoError(t, err)
		require.Empty(t, now.Gone)
		require.Len(t, w.documents("s")[segment.TypeSegment], 1)
	})
}

// TestDamagedGone: a document with condemned names that is damaged or lost keeps nobody from
// reading, and the next prune goes on without it.
func TestDamagedGone(t *testing.T) {
	t.Parallel()
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 1)
			s := w.writer("s")
			require.NoError(t, s.add(segment.Transcript, lines("a", "b")...))
			id, r, pk := s.condemns(s.sid+"-x"), w.reader(), segment.SessionPK(s.sid)
			if lost {
				require.NoError(t, r.Discard(t.Context(), pk, []string{id}))
			} else {
				var body map[string]any
				doc, err := r.Get(t.Context(), pk, id, "")
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(doc.Body, &body))
				body["names"] = 5
				damaged, err := json.Marshal(body)
				require.NoError(t, err)
				_, err = r.Commit(t.Context(), pk, []segment.Document{{ID: id, Label: doc.Label, Body: damaged}}, nil)
				require.NoError(t, err)
			}
			p := &pruner{s: w.session("s")}
			require.NoError(t, p.readHead(t.Context()))
			require.NoError(t, p.read())
			_, err := Prune(t.Context(), w.session("s"), Options{Grace: week, Retention: -1})
			require.NoError(t, err)
			require.NoError(t, p.readHead(t.Context()))
			require.Empty(t, p.head.Gone)
			require.NoError(t, p.read())
			require.Empty(t, w.documents("s")[head.TypeGone])
		})
	}
}

// TestGoneThatAReplicaLacks: the document with condemned names is there, but the replica that
// is asked lacks it: what it names is not forgotten.
func TestGoneThatAReplicaLacks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, lines("a", "b")...))
		_, err := s.store(t.Context(), segment.Transcript, lines("a", "b"), 0)
		require.NoError(t, err)
		condemned := w.documents("s")[segment.TypeSegment][1]
		id := s.condemns(condemned)
		w.dial = func() remote.Remote { return &lagging{w.c, id, 1} }
		p := &pruner{s: w.session("s")}
		require.NoError(t, p.readHead(t.Context()))
		require.ErrorIs(t, p.finish(t.Context()), remoteread.ErrLost)
		require.NoError(t, p.finish(t.Context()))
		require.NotContains(t, w.documents("s")[segment.TypeSegment], condemned)
		require.NoError(t, p.read())
	})
}
