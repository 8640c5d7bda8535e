package gc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
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

// at calls trip before the request n of those that follow. It reports whether that
// was reached.
func (w *world) at(n int, trip func() error) (reached func() bool) {
	count := 0
	w.before = func() error {
		if count++; count != n {
			return nil
		}
		before := w.before
		w.before = nil
		err := trip()
		w.before = before
		return err
	}
	return func() bool { return count >= n }
}

// sparsely returns how far to go on: one or two steps with TEST_LONG set, else at
// most some.
func sparsely(r *rand.Rand, most int) int { return 1 + r.IntN(testenv.Share(most, most, 2)) }

var errKilled = errors.New("killed")

// TestKilledAnywhere ends Prune at each of its requests. Nothing is lost, and the
// next one comes to the same end.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	var end map[string][]string
	r := testenv.Rand(t)
	for n := 0; ; n += sparsely(r, 3) {
		reached := true
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 4)
			w.plant()
			want, _ := w.readable("s")
			child, _ := w.readable("child")
			time.Sleep(time.Hour)
			if n > 0 {
				count := 0
				w.before = func() error {
					if count++; count >= n {
						return errKilled
					}
					return nil
				}
				_, err := Prune(t.Context(), w.session("s"), Options{Grace: time.Nanosecond, Retention: -1})
				reached = count >= n
				require.Equal(t, reached, errors.Is(err, errKilled), "%v", err)
				w.before = nil
			}
			got, _ := w.readable("s")
			require.Equal(t, want, got, "killed at request %d", n)
			w.settle("s")
			got, read := w.readable("s")
			require.Equal(t, want, got, "killed at request %d", n)
			left, _ := w.readable("child")
			require.Equal(t, child, left, "killed at request %d", n)
			w.noGarbage("s", read)
			if n == 0 {
				end = unnamed(w.documents("s"))
			}
			require.Equal(t, end, unnamed(w.documents("s")), "killed at request %d", n)
		})
		if !reached {
			require.Greater(t, n, 10)
			return
		}
	}
}

// unnamed returns the ids without what is drawn.
func unnamed(byType map[string][]string) map[string][]string {
	for _, ids := range byType {
		for i, id := range ids {
			ids[i] = id[:max(0, len(id)-16)]
		}
	}
	return byType
}

// losing is a remote that gives no answer to one of its changes, which is made.
type losing struct {
	remote.Remote
	at, n   int
	removal bool // that is what it was
}

var errNoAnswer = errors.New("no answer")

func (l *losing) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	v, err := l.Remote.Commit(ctx, part, objects, swap)
	if l.n++; l.n == l.at && err == nil {
		return "", fmt.Errorf("%w: %w", remote.ErrUnknown, errNoAnswer)
	}
	return v, err
}

func (l *losing) Delete(ctx context.Context, part string, names []string) error {
	err := l.Remote.Delete(ctx, part, names)
	if l.n++; l.n == l.at && err == nil {
		l.removal = true
		return errNoAnswer
	}
	return err
}

// TestLosesAnAnswer loses the answer to each of the changes of Prune, which goes on, or
// returns that a removal had none.
func TestLosesAnAnswer(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		changes := 0
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 5)
			w.plant()
			want, _ := w.readable("s")
			time.Sleep(time.Hour)
			s := w.session("s")
			l := &losing{Remote: w.c, at: at}
			s.Reader = &remoteread.Reader{Remote: l, Alone: true}
			_, err := Prune(t.Context(), s, Options{Grace: time.Nanosecond, Retention: -1})
			if l.removal {
				require.ErrorIs(t, err, errNoAnswer)
			} else {
				require.NoError(t, err)
			}
			changes = l.n
			w.settle("s")
			got, read := w.readable("s")
			require.Equal(t, want, got)
			w.noGarbage("s", read)
		})
		if changes < at {
			require.Greater(t, at, 3)
			return
		}
	}
}

// meanwhile is what a writer does beside Prune. Each change adds what can be named
// then.
func meanwhile(old []string) map[string]func(*world, *writer) error {
	return map[string]func(*world, *writer) error{
		"append": func(w *world, s *writer) error { return s.add(segment.Transcript, w.text(1, 600)...) },
		"large":  func(w *world, s *writer) error { return s.add(segment.Transcript, w.text(2, 700<<10)...) },
		"what was removed": func(_ *world, s *writer) error { // in the very same documents
			return s.rewrite(14, old[14:]...)
		},
		"rewrite": func(w *world, s *writer) error { return s.rewrite(5, w.text(2, 600)...) },
		"branch":  func(w *world, s *writer) error { return s.branch(12, w.text(2, 300<<10)...) },
		"cut log": func(w *world, s *writer) error { return s.cut(events, 4, w.text(1, 600)...) },
		"file":    func(w *world, s *writer) error { return s.file("config.md", []byte(w.text(1, 90<<10)[0])) },
		"restore": func(_ *world, s *writer) error {
			return s.change(func(ctx context.Context, next *head.Head) error {
				former := s.former(next)
				if former == nil {
					return nil
				}
				next.Transcript = former.Extent
				s.drop(next, former)
				return nil
			})
		},
	}
}

// garden plants a session, of which some documents have just become garbage: the
// former head has expired. It returns the transcript that the former head led to.
func (w *world) garden(keepFormer bool) (*writer, []string) {
	w.t.Helper()
	s := w.plant()
	former := s.former(s.tip)
	r, lines := w.reader(), []string(nil)
	infos, err := r.Segments(context.Background(), s.tip, segment.Transcript, 0)
	require.NoError(w.t, err)
	for line, err := range r.Lines(context.Background(), segment.Transcript, infos, segment.Origin(segment.Transcript), former.Extent.Point(), nil) {
		require.NoError(w.t, err)
		lines = append(lines, string(line))
	}
	if !keepFormer {
		require.NoError(w.t, s.change(func(_ context.Context, next *head.Head) error {
			s.drop(next, former)
			return nil
		}))
	}
	time.Sleep(time.Hour)
	return s, lines
}

// former returns a former head; nil for none.
func (w *writer) former(t *head.Head) *head.History {
	for o, err := range w.c.List(context.Background(), segment.SessionPK(w.sid), remote.Query{Prefix: segment.HistoryID(w.sid, "")}) {
		require.NoError(w.t, err)
		h, err := head.DecodeHistory(o.Name, o.Label, w.sid)
		require.NoError(w.t, err)
		if !h.Branch() && h.Stream == segment.Transcript && t.Histories.Has(h.ID) {
			return &h
		}
	}
	return nil
}

// drop makes the next head name a history no more.
func (w *writer) drop(next *head.Head, h *head.History) {
	next.Histories.Drop(h)
	w.without = append(w.without, h.ID)
}

// TestBesideWriters lets a writer do all of something between two requests of
// Prune, and Prune do all it can between two requests of the writer, wherever that
// is. What can be named then is what can be named without Prune.
func TestBesideWriters(t *testing.T) {
	t.Parallel()
	for _, name := range testenv.Some(t, 1, slices.Sorted(maps.Keys(meanwhile(make([]string, 20))))...) {
		for _, waits := range []string{"prune waits", "writer waits"} {
			t.Run(name+", "+waits, func(t *testing.T) {
				t.Parallel()
				want, r := map[string]string{}, testenv.Rand(t)
				for n := 0; ; n += sparsely(r, 5) {
					reached := false
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(t, 6)
						s, old := w.garden(name == "restore")
						change := meanwhile(old)[name]
						reached = w.beside(s, change, n, waits == "prune waits")
						names := map[string]string{}
						for _, id := range []string{"s", "child", "another"} {
							more, _ := w.readable(id)
							for name, hash := range more {
								names[id+" "+name] = hash
							}
						}
						if n == 0 {
							maps.Copy(want, names)
						}
						require.Equal(t, want, names, "at request %d", n)
						w.settle("s")
					})
					if n > 0 && !reached {
						require.Greater(t, n, 2)
						return
					}
				}
			})
		}
	}
}

// beside runs both; n is 0 for the writer alone.
func (w *world) beside(s *writer, change func(*world, *writer) error, n int, pruneWaits bool) (reached bool) {
	w.t.Helper()
	prune := func() error {
		_, err := Prune(context.Background(), w.session("s"), Options{Grace: time.Nanosecond, Retention: -1})
		return err
	}
	outer, inner := prune, func() error { return change(w, s) }
	if !pruneWaits {
		outer, inner = inner, func() error {
			for range 3 {
				if err := prune(); err != nil {
					return err
				}
				time.Sleep(time.Second)
			}
			return nil
		}
	}
	if n == 0 {
		require.NoError(w.t, change(w, s))
		return true
	}
	r := w.at(n, inner)
	require.NoError(w.t, outer())
	w.before = nil
	if !r() && pruneWaits {
		require.NoError(w.t, change(w, s))
	}
	return r()
}

// TestContended lets somebody else change the head before each request that would
// change it.
func TestContended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 8)
		s, _ := w.garden(false)
		want, _ := w.readable("s")
		c := w.session("s")
		c.Reader = &remoteread.Reader{Remote: &contending{w.c, func() {
			require.NoError(t, s.change(func(context.Context, *head.Head) error { return nil }))
		}}}
		_, err := Prune(t.Context(), c, Options{Grace: time.Nanosecond, Retention: -1})
		require.ErrorIs(t, err, remoteread.ErrContended)
		got, _ := w.readable("s")
		require.Equal(t, want, got)
	})
}

// contending is a remote with somebody who is always first.
type contending struct {
	remote.Remote
	first func()
}

func (c *contending) Commit(ctx context.Context, part string, objects []remote.Object, swap *remote.Swap) (remote.Version, error) {
	c.first()
	return c.Remote.Commit(ctx, part, objects, swap)
}

func (c *contending) Delete(ctx context.Context, part string, names []string) error {
	c.first()
	return c.Remote.Delete(ctx, part, names)
}

// TestPrunesAtOnce lets two devices prune between two requests of each other.
func TestPrunesAtOnce(t *testing.T) {
	t.Parallel()
	r := testenv.Rand(t)
	for n := 1; ; n += sparsely(r, 3) {
		reached := false
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, 9)
			w.garden(true)
			want, _ := w.readable("s")
			r := w.at(n, func() error {
				w.prune("s")
				return nil
			})
			w.prune("s")
			reached = r()
			w.before = nil
			w.settle("s")
			got, read := w.readable("s")
			require.Equal(t, want, got, fmt.Sprint("at request ", n))
			w.noGarbage("s", read)
		})
		if !reached {
			return
		}
	}
}
