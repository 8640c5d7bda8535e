package gc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/remoteread"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

const week = 7 * 24 * time.Hour

// TestFinishesADeletion removes what an interrupted deletion left, and what a
// device uploads that does not know of it.
func TestFinishesADeletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 10)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(2, 300<<10)...))
		require.NoError(t, s.add(events, w.text(3, 500)...))
		require.NoError(t, s.delete(false))
		_, err := s.store(t.Context(), segment.Transcript, w.text(1, 700), 0)
		require.NoError(t, err)
		o := Options{Grace: week, Retention: -1}
		r, err := Prune(t.Context(), w.session("s"), o)
		require.NoError(t, err)
		require.Zero(t, r.Removed)
		require.Positive(t, r.Waiting)
		time.Sleep(time.Until(r.Due))
		done, err := Prune(t.Context(), w.session("s"), o)
		require.NoError(t, err)
		require.Equal(t, r.Waiting, done.Removed)
		require.Equal(t, map[string][]string{head.TypeHead: {segment.HeadID(s.sid)}}, w.documents("s"), "the tombstone stays")
	})
}

// lagging is a remote whose first so many reads of one document come from a
// replica that lacks it.
type lagging struct {
	remote.Remote
	id    string
	reads int
}

func (l *lagging) Get(ctx context.Context, pk, id string, known remote.Version) (remote.Object, error) {
	if id == l.id && l.reads > 0 {
		l.reads--
		return remote.Object{}, remote.ErrNotExist
	}
	return l.Remote.Get(ctx, pk, id, known)
}

// TestLaggingReplica has a replica lack the head of a session, which is old: nothing that
// it needs is removed.
func TestLaggingReplica(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 14)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(2, 500)...))
		time.Sleep(2 * week)
		before := w.documents("s")
		for reads := range 4 {
			w.dial = func() remote.Remote { return &lagging{w.c, segment.HeadID(s.sid), reads} }
			_, err := Prune(t.Context(), w.session("s"), Options{Grace: time.Nanosecond, Retention: -1})
			require.NoError(t, err)
			require.Equal(t, before, w.documents("s"), "%d reads", reads)
		}
	})
}

// TestTombstoneStays: a tombstone stays, small, for as long as there is a container.
func TestTombstoneStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 13)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(2, 500)...))
		require.NoError(t, s.file("config.md", []byte(w.text(1, 3<<10)[0])))
		require.NoError(t, s.delete(true))
		time.Sleep(200 * week)
		r, err := Prune(t.Context(), w.session("s"), Options{Grace: week, Retention: 0})
		require.NoError(t, err)
		require.Equal(t, Result{}, r)
		require.Equal(t, map[string][]string{head.TypeHead: {segment.HeadID(s.sid)}}, w.documents("s"))
		doc, err := s.HeadDocument(t.Context(), s.sid)
		require.NoError(t, err)
		require.Less(t, len(doc.Body), 800)
	})
}

// TestEmpty leaves the tombstone, and what is of other tools.
func TestEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 11)
		s := w.plant()
		other := []segment.Document{{ID: "note", Label: []byte(`{"type":"note"}`)}}
		_, err := s.Commit(t.Context(), segment.SessionPK(s.sid), other, nil)
		require.NoError(t, err)
		require.NoError(t, s.delete(true))
		require.Equal(t, map[string][]string{head.TypeHead: {segment.HeadID(s.sid)}}, w.documents("s"))
		doc, err := s.Get(t.Context(), segment.SessionPK(s.sid), "note", "")
		require.NoError(t, err)
		require.NotNil(t, doc)
	})
}

// TestWithoutATip removes a first upload that never ended, and marks the entry of the
// catalogue that tells of it as deleted. Another first upload enters the session again.
func TestWithoutATip(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 13)
		s := w.writer("s")
		id := identity("s")
		entry := head.Catalogue{SID: s.sid, UID: id.UID(), Revision: 1, Session: "s", Project: "demo", Updated: time.Now()}
		_, err := s.WriteEntry(t.Context(), &entry, "")
		require.NoError(t, err)
		_, err = s.store(t.Context(), segment.Transcript, w.text(3, 300<<10), 0)
		require.NoError(t, err)
		due := func() map[string]*remoteread.Entry {
			all, err := ReadJournal(nil, Options{}).Due(t.Context(), w.reader(), id, false)
			require.NoError(t, err)
			return all
		}
		prune := func(o Options) Result {
			c := w.session("s")
			c.Entry = due()["s"]
			r, err := Prune(t.Context(), c, o)
			require.NoError(t, err)
			return r
		}
		for range 2 {
			require.Zero(t, prune(Options{Grace: time.Nanosecond}).Removed, "it may still go on, whatever the grace")
			time.Sleep(week/2 - time.Hour)
		}
		require.Greater(t, MaxFirstUpload, time.Duration(0))
		require.Less(t, MaxFirstUpload, firstGrace)
		time.Sleep(3 * time.Hour)
		plan := prune(Options{Grace: time.Nanosecond, Plan: true})
		require.Len(t, due(), 1)
		done := prune(Options{Grace: time.Nanosecond})
		require.Positive(t, done.Removed)
		require.Equal(t, plan.Removed, done.Removed)
		require.Empty(t, w.documents("s"))
		require.True(t, due()["s"].Deleted)
		require.Equal(t, Result{}, prune(Options{Grace: time.Nanosecond}))
		_, err = s.WriteEntry(t.Context(), &entry, "")
		require.NoError(t, err)
		require.False(t, due()["s"].Deleted)
	})
}

// TestTextThatComesLate: text that arrives after a deleted session was pruned is removed,
// though nothing in the catalogue tells of it.
func TestTextThatComesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 15)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(2, 500)...))
		require.NoError(t, s.delete(true))
		id, o, j := identity("s"), Options{Grace: week, Retention: 0}, ReadJournal(nil, Options{})
		entry := head.Catalogue{SID: s.sid, UID: id.UID(), Revision: 2, Session: "s", Project: "demo", Updated: time.Now(), Deleted: true}
		_, err := s.WriteEntry(t.Context(), &entry, "")
		require.NoError(t, err)
		visits := 0
		for range 100 {
			due, err := j.Due(t.Context(), w.reader(), id, false)
			require.NoError(t, err)
			if e := due["s"]; e != nil {
				r, err := Prune(t.Context(), w.session("s"), o)
				require.NoError(t, err)
				j.Note(e, r.Due)
				if visits++; visits == 1 {
					_, err := s.store(t.Context(), segment.Transcript, w.text(1, 700), 0)
					require.NoError(t, err)
				}
			}
			time.Sleep(week)
		}
		require.Equal(t, map[string][]string{head.TypeHead: {segment.HeadID(s.sid)}}, w.documents("s"))
		require.Equal(t, 3, visits, "at once, after what came late, and once more after its removal")
	})
}

// TestEntryOfATombstone: a removal that was killed before it wrote the entry leaves a name in
// the catalogue. Prune takes it out.
func TestEntryOfATombstone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 16)
		s := w.writer("s")
		require.NoError(t, s.add(segment.Transcript, w.text(2, 500)...))
		id := identity("s")
		entry := head.Catalogue{SID: s.sid, UID: id.UID(), Revision: 1, Session: "s", Project: "demo", Name: "secret", Updated: time.Now()}
		_, err := s.WriteEntry(t.Context(), &entry, "")
		require.NoError(t, err)
		require.NoError(t, s.delete(true))
		read := func() *remoteread.Entry {
			e, err := s.EntryOf(t.Context(), id.UID(), s.sid)
			require.NoError(t, err)
			return e
		}
		p := w.session("s")
		p.Entry = read()
		require.Equal(t, "secret", p.Entry.Name)
		_, err = Prune(t.Context(), p, Options{Grace: week, Plan: true})
		require.NoError(t, err)
		require.Equal(t, "secret", read().Name)
		_, err = Prune(t.Context(), p, Options{Grace: week})
		require.NoError(t, err)
		require.True(t, read().Deleted)
		require.Empty(t, read().Name)
	})
}
