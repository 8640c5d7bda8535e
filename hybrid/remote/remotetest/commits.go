package remotetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// fails makes a commit whose swap is refused.
func (s *suite) fails(swap *remote.Swap, objects ...remote.Object) {
	s.Helper()
	v, err := s.r.Commit(s.Context(), part, objects, swap)
	s.is(err, remote.ErrChanged, "Commit of %s", swap.Name)
	s.same(v, remote.Version(""), "version of a swap that failed")
}

func testCreate(s *suite) {
	v := s.commit(&remote.Swap{Object: object("a", "one")})
	s.fails(&remote.Swap{Object: object("a", "two")})
	s.fails(&remote.Swap{Object: object("b", "two"), If: v})
	s.same(string(s.get("a").Body), "one", "body")
	s.gone("b")
}

func testReplace(s *suite) {
	seen := map[remote.Version]bool{"": true}
	last := remote.Version("")
	for i := range 5 { // the content of some is the same
		v := s.commit(&remote.Swap{Object: object("a", fmt.Sprint(i/2)), If: last})
		if seen[v] {
			s.Fatalf("version %q for the second time", v)
		}
		for old := range seen {
			s.fails(&remote.Swap{Object: object("a", "late"), If: old})
		}
		seen[v], last = true, v
		o := s.get("a")
		s.same([2]string{string(o.Body), string(o.Version)}, [2]string{fmt.Sprint(i / 2), string(v)}, "what was swapped in")
	}
}

// testWhole: a swap replaces an object whole, with its label, which lists show too.
func testWhole(s *suite) {
	last := remote.Version("")
	for _, o := range []remote.Object{
		{Label: []byte(`{"type":"x","v":1,"rev":1}`), Body: []byte("text")},
		{Label: []byte(`{"type":"x","v":1,"rev":2}`), Body: []byte{0, 255}},
		{Label: []byte(`{"type":"y","v":1,"rev":3}`)},
		{Label: []byte(`{"type":"y","v":1,"rev":4}`), Body: []byte("text")},
	} {
		o.Name = "a"
		last = s.commit(&remote.Swap{Object: o, If: last})
		got := s.get("a")
		s.same(string(got.Body), string(o.Body), "body")
		s.sameJSON(got.Label, o.Label)
		for listed, err := range s.r.List(s.Context(), part, remote.Query{}) {
			s.ok(err)
			s.sameJSON(listed.Label, o.Label)
			s.same(listed.Version, last, "version in a list")
		}
	}
}

// testSplit commits more than any batch holds: all is stored, and the swap is made once.
func testSplit(s *suite) {
	var many, much []remote.Object
	for i := range 250 {
		many = append(many, object(fmt.Sprint("many-", i), "m"))
	}
	for i := range 5 {
		much = append(much, remote.Object{Name: fmt.Sprint("much-", i), Label: []byte(`{}`), Body: noise(large)})
	}
	v := remote.Version("")
	for i, objects := range [][]remote.Object{many, much} {
		s.commit(nil, objects...)
		s.ok(s.r.Delete(s.Context(), part, []string{objects[0].Name, objects[len(objects)-1].Name}))
		s.fill("gone")
		s.fails(&remote.Swap{Object: object("head", "late"), If: "none", Remove: []string{"gone"}}, objects...)
		s.get("gone")
		text := fmt.Sprint("head ", i)
		v = s.commit(&remote.Swap{Object: object("head", text), If: v, Remove: []string{"gone"}}, objects...)
		s.gone("gone")
		got := s.get("head")
		s.same([2]string{string(got.Body), string(got.Version)}, [2]string{text, string(v)}, "what was swapped in")
		for _, o := range objects {
			s.same(len(s.get(o.Name).Body), len(o.Body), "bytes of %s", o.Name)
		}
	}
	s.same(len(s.list(remote.Query{})), len(many)+len(much)+1, "objects")
}

// testNotSwapped: a swap that fails removes nothing, and replaces nothing.
func testNotSwapped(s *suite) {
	v := s.commit(&remote.Swap{Object: object("a", "one")})
	s.commit(&remote.Swap{Object: object("a", "two"), If: v}, object("b", "b"), object("c", "c"))
	s.fails(&remote.Swap{Object: object("a", "three"), If: v, Remove: []string{"b", "c"}}, object("d", "d"))
	s.same(string(s.get("a").Body), "two", "body")
	s.get("b")
	s.get("c")
}

// testStoredTwice: an object with a drawn name may be stored again, as after a lost answer.
func testStoredTwice(s *suite) {
	s.commit(nil, object("a", "a"), object("b", "b"))
	s.commit(nil, object("a", "a"))
	s.commit(&remote.Swap{Object: object("head", "1")}, object("b", "b"), object("c", "c"))
	for _, name := range []string{"a", "b", "c"} {
		s.same(string(s.get(name).Body), name, "body")
	}
	s.same(s.list(remote.Query{}), []string{"a", "b", "c", "head"}, "list")
}

// testTwice: an object that a commit has twice is stored once.
func testTwice(s *suite) {
	s.commit(nil, object("a", "a"), object("b", "b"), object("a", "a"))
	v := s.commit(&remote.Swap{Object: object("head", "1")}, object("c", "c"), object("c", "c"))
	s.commit(&remote.Swap{Object: object("head", "2"), If: v, Remove: []string{"b", "b"}}, object("c", "c"), object("d", "d"), object("c", "c"))
	s.same(s.list(remote.Query{}), []string{"a", "c", "d", "head"}, "list")
	for _, name := range []string{"a", "c", "d"} {
		s.same(string(s.get(name).Body), name, "body")
	}
}

// testLarger: what is larger than an object may be is refused, with nothing of it stored.
func testLarger(s *suite) {
	label := object("label", "")
	label.Label = append(label.Label, bytes.Repeat([]byte(" "), remote.MaxLabel)...)
	body := object("body", "")
	body.Body = make([]byte, remote.MaxObject+1)
	for _, o := range []remote.Object{label, body} {
		_, err := s.r.Commit(s.Context(), part, []remote.Object{object("a", "a"), o}, nil)
		s.is(err, remote.ErrTooLarge, "Commit of a larger %s", o.Name)
		_, err = s.r.Commit(s.Context(), part, []remote.Object{object("a", "a")}, &remote.Swap{Object: o})
		s.is(err, remote.ErrTooLarge, "Commit of a swap with a larger %s", o.Name)
		s.gone(o.Name)
	}
}

func testRemove(s *suite) {
	s.fill("a", "b", "c")
	v := s.commit(&remote.Swap{Object: object("head", "1"), Remove: []string{"a"}})
	s.same(s.list(remote.Query{}), []string{"b", "c", "head"}, "list")
	v = s.commit(&remote.Swap{Object: object("head", "2"), If: v, Remove: []string{"a", "b", "none"}}, object("d", "d"))
	s.same(s.list(remote.Query{}), []string{"c", "d", "head"}, "list after a removal of what is not there")
	s.same(s.get("head").Version, v, "version")
	var many []string
	for i := range 250 {
		many = append(many, fmt.Sprint("m-", i))
	}
	s.fill(many...)
	v = s.commit(&remote.Swap{Object: object("head", "3"), If: v, Remove: append(many, "c")})
	s.same(s.list(remote.Query{}), []string{"d", "head"}, "list after many were removed")
	s.same(s.get("head").Version, v, "version")
}

// testTogether stores as many objects as a remote stores whole: where the swap fails,
// nothing is stored.
func testTogether(s *suite) {
	info, err := s.r.Info(s.Context())
	s.ok(err)
	v := s.commit(&remote.Swap{Object: object("head", "1")})
	n, left := min(info.Batch.Objects, 300), info.Batch.Bytes
	var objects []remote.Object
	var names []string
	for i := range n - 1 {
		o := object(fmt.Sprint("o-", i), "")
		o.Body = noise(min(large, max(0, left*3/4-2000)))
		if i > 3 {
			o.Body = nil
		}
		if left -= o.Size(); left < 1000 {
			break
		}
		objects, names = append(objects, o), append(names, o.Name)
	}
	if len(objects) == 0 {
		return // it stores nothing whole
	}
	s.fails(&remote.Swap{Object: object("head", "2")}, objects...)
	s.gone(names...)
	s.commit(&remote.Swap{Object: object("head", "2"), If: v}, objects...)
	s.same(len(s.list(remote.Query{Prefix: "o-"})), len(objects), "objects that were stored whole")
}

// testAtOnce lets eight goroutines swap one object at once. One of them wins, each time.
func testAtOnce(s *suite) {
	last := remote.Version("")
	for round := range 10 {
		var versions [8]remote.Version
		var errs [8]error
		var work sync.WaitGroup
		begin := make(chan struct{})
		for i := range errs {
			work.Go(func() {
				<-begin
				swap := &remote.Swap{Object: object("head", fmt.Sprint(round, i)), If: last}
				versions[i], errs[i] = s.r.Commit(s.Context(), part, []remote.Object{object(fmt.Sprint("o-", round, "-", i), "o")}, swap)
			})
		}
		close(begin)
		work.Wait()
		won := -1
		for i, err := range errs {
			switch {
			case err == nil && won >= 0:
				s.Fatalf("round %d: two swaps were made", round)
			case err == nil:
				won = i
			case !errors.Is(err, remote.ErrChanged):
				s.Fatalf("round %d: error %v, want %v", round, err, remote.ErrChanged)
			}
		}
		if won < 0 {
			s.Fatalf("round %d: no swap was made", round)
		}
		o := s.get("head")
		s.same([2]string{string(o.Body), string(o.Version)}, [2]string{fmt.Sprint(round, won), string(versions[won])}, "what was swapped in")
		s.get(fmt.Sprint("o-", round, "-", won))
		last = o.Version
	}
}

// testBeside lets eight goroutines store and remove objects of one part at once. None is
// lost.
func testBeside(s *suite) {
	var work sync.WaitGroup
	var errs [8]error
	for i := range errs {
		work.Go(func() {
			for n := range 10 {
				o := object(fmt.Sprint("o-", i, "-", n), "o")
				swap := &remote.Swap{Object: object(fmt.Sprint("head-", i, "-", n), "h")}
				_, stored := s.r.Commit(s.Context(), part, []remote.Object{o, object(fmt.Sprint("x-", i, "-", n), "x")}, nil)
				_, swapped := s.r.Commit(s.Context(), part, nil, swap)
				errs[i] = errors.Join(errs[i], stored, swapped, s.r.Delete(s.Context(), part, []string{fmt.Sprint("x-", i, "-", n)}))
			}
		})
	}
	work.Wait()
	s.ok(errors.Join(errs[:]...))
	s.same(len(s.list(remote.Query{Prefix: "o-"})), 80, "objects that eight stored at once")
	s.same(len(s.list(remote.Query{Prefix: "head-"})), 80, "objects that eight swapped in at once")
	s.same(len(s.list(remote.Query{Prefix: "x-"})), 0, "objects that eight removed at once")
}

// testDelete removes objects in any version, and missing ones.
func testDelete(s *suite) {
	s.ok(s.r.Delete(s.Context(), part, []string{"none"}))
	s.ok(s.r.Delete(s.Context(), part, nil))
	v := s.commit(&remote.Swap{Object: object("head", "1")})
	s.commit(&remote.Swap{Object: object("head", "2"), If: v}, object("a", "a"), object("b", "b"))
	s.ok(s.r.Delete(s.Context(), "another-part", []string{"a"}))
	s.ok(s.r.Delete(s.Context(), part, []string{"a", "none"}))
	s.same(s.list(remote.Query{}), []string{"b", "head"}, "list")
	s.gone("a")
	names := []string{"none"}
	for i := range 250 {
		names = append(names, fmt.Sprint("m-", i))
	}
	s.fill(names[1:]...)
	s.ok(s.r.Delete(s.Context(), part, names))
	s.same(s.list(remote.Query{}), []string{"b", "head"}, "list after many were removed")
}
