package remotetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

const second = time.Second // the precision of times that each remote has

// testOrder: names are in the order of their bytes, whatever the order they were stored in.
func testOrder(s *suite) {
	s.same(len(s.list(remote.Query{})), 0, "objects in a part that was never used")
	names := []string{"b", "a", "a-", "-", "0", "a0", "aa", "a-b", "a-0", "z", "9", "10", "--", "ab", "a--", "zz", "-z"}
	s.fill(names...)
	slices.Sort(names)
	s.same(s.list(remote.Query{}), names, "order")
	for range s.r.List(s.Context(), part, remote.Query{}) {
		break // a caller may stop at any object
	}
	all := s.r.List(s.Context(), part, remote.Query{})
	for range 2 { // and begin again
		n := 0
		for _, err := range all {
			s.ok(err)
			n++
		}
		s.same(n, len(names), "objects")
	}
	for range s.r.List(s.Context(), "another-part", remote.Query{}) {
		s.Fatal("a part lists the objects of another one")
	}
}

// expect compares a list with the names that the query should select.
func (s *suite) expect(q remote.Query, names []string) {
	s.Helper()
	var want []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		if strings.HasPrefix(name, q.Prefix) && name > q.After {
			want = append(want, name)
		}
	}
	s.same(s.list(q), want, "prefix %q, after %q", q.Prefix, q.After)
}

// some are names of which some begin with others.
func some() (names []string) {
	for _, a := range []string{"-", "0", "9", "a", "b", "yz", "z", "zz"} {
		names = append(names, a)
		for _, b := range []string{"-", "0", "a", "z", "-1", "z9"} {
			names = append(names, a+b)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func testPrefix(s *suite) {
	names := some()
	s.fill(names...)
	for _, prefix := range append(names, "none", "zzz", "c", "zz9") {
		s.expect(remote.Query{Prefix: prefix}, names)
	}
}

func testAfter(s *suite) {
	names := some()
	s.fill(names...)
	for _, after := range append(names, "c", "zzzz", "a-0") {
		s.expect(remote.Query{After: after}, names)
		for _, prefix := range []string{"a", "a-", "z", "zz", "-"} {
			s.expect(remote.Query{Prefix: prefix, After: after}, names)
		}
	}
}

// testSince lists the objects that were stored at the times of objects, or later.
func testSince(s *suite) {
	began := time.Time{}
	for i, name := range []string{"c", "b", "a"} {
		s.fill(name)
		if i == 0 {
			began = s.get(name).Time
		}
	}
	s.fill("d-1", "d-2")
	times := map[string]time.Time{}
	for o, err := range s.r.List(s.Context(), part, remote.Query{Since: began.Add(-time.Hour)}) {
		s.ok(err)
		times[o.Name] = o.Time
	}
	s.same(len(times), 5, "objects that were stored after the time before")
	for _, since := range times {
		for _, q := range []remote.Query{{}, {Prefix: "d"}, {After: "b"}} {
			q.Since = since
			var want []string
			for name, at := range times {
				if !at.Before(since) && strings.HasPrefix(name, q.Prefix) && name > q.After {
					want = append(want, name)
				}
			}
			slices.Sort(want)
			s.same(s.list(q), want, "since %v", since)
		}
	}
	s.same(len(s.list(remote.Query{Since: times["d-2"].Add(time.Hour)})), 0, "objects of later")
	s.fill("c") // once more: it is stored now
	if at := s.get("c").Time; at.Before(began) {
		s.Fatalf("what was stored at %v was stored again at %v", began, at)
	}
}

// testStoredAgain: the time of an object is when it was stored last, not first. So lists
// of objects that were stored since a time have it again.
func testStoredAgain(s *suite) {
	v := s.commit(&remote.Swap{Object: object("a", "a")}, object("b", "b"))
	first := s.get("a").Time
	for end := time.Now().Add(time.Minute); !s.get("a").Time.After(first); { // by the remote's clock, which may count seconds
		if time.Now().After(end) {
			s.Fatal("an object that is stored again keeps its time")
		}
		v = s.commit(&remote.Swap{Object: object("a", "a"), If: v}, object("b", "b"))
	}
	again := s.get("a").Time
	s.commit(nil, object("b", "b"))
	s.same(s.list(remote.Query{Since: again}), []string{"a", "b"}, "what was stored since then, again")
}

// testPages lists more objects than an answer holds.
func testPages(s *suite) {
	var names []string
	for i := range 2500 {
		names = append(names, fmt.Sprintf("o-%04x", i*7919%2500))
	}
	s.fill(names...)
	s.fill("a", "z")
	names = append(names, "a", "z")
	s.expect(remote.Query{}, names)
	s.expect(remote.Query{Prefix: "o-"}, names)
	s.expect(remote.Query{Prefix: "o-", After: "o-0100"}, names)
	s.expect(remote.Query{After: "o-0999"}, names)
	n := 0
	for o, err := range s.r.List(s.Context(), part, remote.Query{Prefix: "o-"}) {
		s.ok(err)
		if n == 1000 { // removed objects may be in the list or not, all others are
			s.ok(s.r.Delete(s.Context(), part, []string{o.Name, "o-0001", "o-09c0"}))
		}
		n++
	}
	if n < 2499 || n > 2500 {
		s.Fatalf("%d objects of 2500, of which one was removed meanwhile", n)
	}
}
