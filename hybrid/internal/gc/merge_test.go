package gc

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestDocumentsGrowWithTheirDistance prunes streams that grow by segments of random
// sizes. A document that was merged is at most as large as the lines behind it, and the
// one at the end has 128 KB at most.
func TestDocumentsGrowWithTheirDistance(t *testing.T) {
	t.Parallel()
	seed := testenv.Seed(t)
	for n := range testenv.Share(2, 2, testenv.Further(10, 40)) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, seed+uint64(n))
				s := w.writer("s")
				pushes, merged := 0, 0
				for range 4 {
					for range 8 + w.r.IntN(16) {
						size := []int{50, 3 << 10, 20 << 10, 90 << 10}[w.r.IntN(4)]
						require.NoError(t, s.add(segment.Transcript, w.text(1, size)...))
						require.NoError(t, s.add(events, w.text(1+w.r.IntN(9), size/4)...))
						pushes += 2
					}
					time.Sleep(time.Minute)
					before := w.sizes("s")
					merged += w.prune("s").Merged
					w.settle("s")
					w.distances("s", before)
				}
				require.Positive(t, merged)
				require.Less(t, len(w.sizes("s")), pushes/3)
			})
		})
	}
}

// sizes returns how many bytes each segment of a session has.
func (w *world) sizes(id string) map[string]int {
	w.t.Helper()
	all := map[string]int{}
	for _, in := range w.infos(id) {
		doc, err := w.reader().Get(w.t.Context(), in.PK, in.ID, "")
		require.NoError(w.t, err)
		all[in.ID] = (&segment.Document{Label: doc.Label, Body: doc.Body}).Size()
		require.LessOrEqual(w.t, int64(all[in.ID]), in.UpperBound())
	}
	return all
}

func (w *world) infos(id string) (all []segment.Info) {
	w.t.Helper()
	for _, st := range []segment.Stream{segment.Transcript, events} {
		infos, err := w.reader().Segments(w.t.Context(), &head.Head{SID: sidOf(id)}, st, 0)
		require.NoError(w.t, err)
		all = append(all, infos...)
	}
	return all
}

// distances checks the documents that were merged since those before were there.
func (w *world) distances(id string, before map[string]int) {
	w.t.Helper()
	h, _, err := w.reader().Head(w.t.Context(), sidOf(id), remoteread.Known{})
	require.NoError(w.t, err)
	now := w.sizes(id)
	for _, in := range w.infos(id) {
		end := h.Transcript.Bytes
		if in.Stream == events {
			end = h.Logs[events].Bytes
		}
		if _, old := before[in.ID]; !old {
			require.LessOrEqual(w.t, int64(now[in.ID]), max(maxTail, end-in.Offset-in.Bytes), in.ID)
		}
	}
}
