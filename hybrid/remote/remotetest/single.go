package remotetest

import (
	"context"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

func testGet(s *suite) {
	s.gone("a", "b")
	first := s.commit(&remote.Swap{Object: object("a", "one")})
	o := s.get("a")
	s.same(string(o.Body), "one", "body")
	s.same(o.Version, first, "version")
	if o.Time.IsZero() {
		s.Fatal("an object has no time")
	}
	_, err := s.r.Get(s.Context(), part, "a", first)
	s.is(err, remote.ErrUnchanged, "Get of a known version")
	_, err = s.r.Get(s.Context(), part, "b", first)
	s.is(err, remote.ErrNotExist, "Get of a missing object of which a version is known")
	_, err = s.r.Get(s.Context(), "another-part", "a", "")
	s.is(err, remote.ErrNotExist, "Get in another part")
	second := s.commit(&remote.Swap{Object: object("a", "two"), If: first})
	o, err = s.r.Get(s.Context(), part, "a", first)
	s.ok(err)
	s.same([2]string{string(o.Body), string(o.Version)}, [2]string{"two", string(second)}, "a version that is not known")
}

func testInfo(s *suite) {
	one, err := s.r.Info(s.Context())
	s.ok(err)
	s.fill("a")
	a := s.get("a")
	two, err := s.r.Info(s.Context())
	s.ok(err)
	s.same(two.Identity, one.Identity, "identity")
	s.same(two.Batch, one.Batch, "batch")
	ended, end := context.WithCancel(s.Context())
	end()
	three, _ := s.r.Info(ended)
	s.same(three.Identity, one.Identity, "identity with a context that ended")
	if two.Time.IsZero() || two.Time.Before(one.Time) || two.Time.Add(second).Before(a.Time) {
		s.Fatalf("time %v after %v, and of what was stored between %v", two.Time, one.Time, a.Time)
	}
}

func testCanceled(s *suite) {
	s.fill("a")
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	_, get := s.r.Get(ctx, part, "a", "")
	_, commit := s.r.Commit(ctx, part, []remote.Object{object("b", "b")}, nil)
	var list error
	for _, list = range s.r.List(ctx, part, remote.Query{}) {
	}
	for name, err := range map[string]error{"Get": get, "Commit": commit, "List": list, "Delete": s.r.Delete(ctx, part, []string{"a"})} {
		s.is(err, context.Canceled, "%s with a context that ended", name)
	}
	s.get("a")
	s.gone("b")
}

func testObserved(s *suite) {
	made := make(chan remote.Request, 100)
	ctx := remote.Observed(s.Context(), func(r remote.Request) { made <- r })
	calls := map[string]func() error{
		"Get": func() error { _, err := s.r.Get(ctx, part, "a", ""); return err },
		"Commit": func() error {
			_, err := s.r.Commit(ctx, part, nil, &remote.Swap{Object: object("c", "c")})
			return err
		},
		"Delete": func() error { return s.r.Delete(ctx, part, []string{"b"}) },
		"List": func() error {
			for _, err := range s.r.List(ctx, part, remote.Query{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	s.fill("a", "b")
	for name, call := range calls {
		s.ok(call())
		if len(made) == 0 {
			s.Fatalf("%s tells of no request", name)
		}
		for range len(made) {
			if r := <-made; r.Start.IsZero() || r.Err != nil {
				s.Fatalf("%s tells of the request %+v", name, r)
			}
		}
	}
}
