package remotetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// model is the content of a part after the changes that were made.
type model struct {
	*suite
	r     *rand.Rand
	fixed map[string]remote.Object // whose names stay
	drawn map[string]bool          // names of those whose text is their name
	old   []remote.Version         // that some object had
}

// testChanges makes 200 changes at random, some of which must be refused, and looks at the
// whole part after each.
func testChanges(s *suite) {
	m := &model{s, rand.New(rand.NewPCG(1, 2)), map[string]remote.Object{}, map[string]bool{}, []remote.Version{""}}
	for range 200 {
		if m.r.IntN(4) == 0 {
			names := m.names()
			s.ok(s.r.Delete(s.Context(), part, names))
			m.forget(names)
		} else {
			m.change()
		}
		m.look()
	}
}

// names draws names; some of them belong to existing objects.
func (m *model) names() (names []string) {
	for _, n := range m.r.Perm(8)[:m.r.IntN(4)] {
		names = append(names, fmt.Sprint("drawn-", n))
	}
	return names
}

func (m *model) forget(names []string) {
	for _, name := range names {
		delete(m.drawn, name)
	}
}

// change stores objects, with a swap or without, which has the version of its object or not.
func (m *model) change() {
	names := m.names()
	var objects []remote.Object
	for _, name := range names {
		objects = append(objects, object(name, name))
	}
	if m.r.IntN(3) == 0 {
		m.commit(nil, objects...)
		m.store(names)
		return
	}
	name := fmt.Sprint("fixed-", m.r.IntN(3))
	was := m.fixed[name].Version
	swap := &remote.Swap{Object: object(name, fmt.Sprint(m.r.IntN(3))), If: was}
	if m.r.IntN(3) == 0 {
		swap.If = m.old[m.r.IntN(len(m.old))]
	}
	for _, gone := range m.names() {
		if !slices.Contains(names, gone) {
			swap.Remove = append(swap.Remove, gone)
		}
	}
	v, err := m.suite.r.Commit(m.Context(), part, objects, swap)
	if swap.If != was {
		m.is(err, remote.ErrChanged, "Commit of %s in another version", name)
		m.ok(m.suite.r.Delete(m.Context(), part, names)) // they may be stored or not
		m.forget(names)
		return
	}
	m.ok(err)
	swap.Version = v
	m.fixed[name] = swap.Object
	m.old = append(m.old, v)
	m.forget(swap.Remove)
	m.store(names)
}

func (m *model) store(names []string) {
	for _, name := range names {
		m.drawn[name] = true
	}
}

// look compares the part with the model.
func (m *model) look() {
	m.Helper()
	want := slices.Sorted(maps.Keys(m.drawn))
	for name, o := range m.fixed {
		want = append(want, name)
		got, err := m.suite.r.Get(m.Context(), part, name, "")
		m.ok(err)
		m.same([2]string{string(got.Body), string(got.Version)}, [2]string{string(o.Body), string(o.Version)}, "object %s", name)
		_, err = m.suite.r.Get(m.Context(), part, name, o.Version)
		m.is(err, remote.ErrUnchanged, "Get of %s", name)
		if old := m.old[m.r.IntN(len(m.old))]; old != o.Version {
			if _, err = m.suite.r.Get(m.Context(), part, name, old); errors.Is(err, remote.ErrUnchanged) {
				m.Fatalf("%s is unchanged since version %q, and has %q", name, old, o.Version)
			}
		}
	}
	slices.Sort(want)
	m.same(m.list(remote.Query{}), want, "list")
}
