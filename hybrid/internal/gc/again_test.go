package gc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/head"
	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
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

// ordersAgain are searches in which a request is made again, or is made first, by more than a
// grace time later than reason 13 of the package's documentation assumes.
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
	all["a push leaves what it stored"] = of(true, only, push(ab...), deletes(recreate), whole(prunes("h", -1)))
	return all
}

// TestOrdersAgain: where requests are made again, or are late, by more than a grace time, the
// search finds a loss: what reason 13 is for.
func TestOrdersAgain(t *testing.T) {
	t.Parallel()
	for name := range ordersAgain(t, false) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				found := ""
				for _, falls := range []bool{false, true} {
					if s := ordersAgain(t, falls)[name]; found == "" {
						found = s.run()
					}
				}
				require.NotEmpty(t, found)
				t.Log(found)
			})
		})
	}
}
