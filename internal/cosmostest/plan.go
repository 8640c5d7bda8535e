package cosmostest

import (
	"hash/fnv"
	"math/rand/v2"
)

// A Plan chooses the fault of a request. Calls come one after the other, in
// order of N; those of one Server are never concurrent.
type Plan func(Request) Fault

// At gives f to request n and to no other.
func At(n int, f Fault) Plan {
	return func(r Request) Fault {
		if r.N == n {
			return f
		}
		return Fault{}
	}
}

// Data gives p the requests on documents alone, numbered by themselves from 1.
// The plan counts: it is for one Server.
func Data(p Plan) Plan {
	n := 0
	return func(r Request) Fault {
		if !r.Op.Data() {
			return Fault{}
		}
		n++
		r.N = n
		return p(r)
	}
}

// First gives the fault of the first plan that has one.
func First(plans ...Plan) Plan {
	return func(r Request) (f Fault) {
		for _, p := range plans {
			if f == (Fault{}) && p != nil {
				f = p(r)
			} else if p != nil {
				p(r) // plans that count see every request
			}
		}
		return f
	}
}

// Always gives f to every request.
func Always(f Fault) Plan { return func(Request) Fault { return f } }

// Random gives one of faults to a share (0 to 1) of the requests. What a
// request gets depends on the seed, its operation, partition and id, and how
// many such came before it: not on what other requests come between, which is
// by chance when a client works with several goroutines. The plan counts: it
// is for one Server.
func Random(seed uint64, share float64, faults ...Fault) Plan {
	seen := map[string]uint64{}
	return func(r Request) Fault {
		name := string(r.Op) + "\n" + r.Container + "\n" + r.Partition + "\n" + r.ID
		seen[name]++
		h := fnv.New64a()
		_, _ = h.Write([]byte(name))
		rnd := rand.New(rand.NewPCG(seed, h.Sum64()+seen[name]*0x9e3779b97f4a7c15))
		if len(faults) == 0 || rnd.Float64() >= share {
			return Fault{}
		}
		return faults[rnd.IntN(len(faults))]
	}
}
