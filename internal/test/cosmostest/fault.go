package cosmostest

import (
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// An Op is the operation of a request.
type Op string

// The operations. OpControl is every other one on databases and containers.
const (
	OpAccount Op = "account"
	OpControl Op = "control"
	OpCreate  Op = "create"
	OpUpsert  Op = "upsert"
	OpReplace Op = "replace"
	OpDelete  Op = "delete"
	OpRead    Op = "read"
	OpQuery   Op = "query"
	OpBatch   Op = "batch"
)

// Writes reports whether the operation may change documents.
func (op Op) Writes() bool { return op.Data() && op != OpRead && op != OpQuery }

// Data reports whether the operation is on documents.
func (op Op) Data() bool { return op != OpAccount && op != OpControl && op != "" }

// A Request describes a client's request.
type Request struct {
	N         int // from 1, in the order of arrival
	Op        Op
	Method    string
	Database  string
	Container string
	Partition string // the partition key, a JSON array like ["s-abc"]; "" when none is given
	ID        string // of the document; "" for queries and batches
	Body      []byte // not to be changed
	At        time.Time
}

// A Record is the result of a request.
type Record struct {
	Request
	Status  int     // 0: no answer was sent
	Charge  float64 // request units
	Written int     // documents that were created, changed or deleted
	Sent    int     // bytes of the answer's body
}

// A Fault changes how a request is served. Its fields combine; the zero value is no fault.
type Fault struct {
	Delay      time.Duration // before the request is applied
	Hold       time.Duration // after it was applied, before the answer
	Status     int           // refused with it, not applied
	SubStatus  int           // of Status
	RetryAfter time.Duration // of Status, in milliseconds
	Operation  int           // batches: Status is for this operation, from 1, or for the last; the others are 424
	Drop       bool          // not applied, and the connection breaks
	Lose       bool          // applied, and the connection breaks
	Duplicate  bool          // applied twice; the first answer is sent
	Retried    bool          // applied twice; the second answer is sent
	Echo       int           // applied once more, unseen, when so many further requests have arrived
	Stale      int           // reads: by a replica that lacks the newest writes, so many and MaxStale at most
	Page       int           // queries: so many rows on a page at most; -1: none, and a continuation
}

// Refuse answers with a status, and with retryAfter, if any.
func Refuse(status int, retryAfter time.Duration) Fault {
	return Fault{Status: status, RetryAfter: retryAfter}
}

// Drop breaks the connection before the request is applied.
func Drop() Fault { return Fault{Drop: true} }

// LoseAnswer breaks the connection after the request was applied.
func LoseAnswer() Fault { return Fault{Lose: true} }

// Delay lets the request wait before it is applied.
func Delay(d time.Duration) Fault { return Fault{Delay: d} }

// Duplicate applies the request twice.
func Duplicate() Fault { return Fault{Duplicate: true} }

// A Plan chooses the fault of a request. Calls come one after the other, in order of N;
// calls for one Server are never concurrent.
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

// Data gives p the requests on documents alone, numbered by themselves from 1. The plan
// counts: it is for one Server.
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

// First gives the fault of the first plan that has one. All see every request, since plans
// may count.
func First(plans ...Plan) Plan {
	return func(r Request) (f Fault) {
		for _, p := range plans {
			if next := p(r); f == (Fault{}) {
				f = next
			}
		}
		return f
	}
}

// Always gives f to every request.
func Always(f Fault) Plan { return func(Request) Fault { return f } }

// Random gives one of faults to a share (0 to 1) of the requests. The fault of a request
// depends on the seed, its operation, partition and id, and how many such came before it:
// not on other requests in between, which come by chance when a client works with several
// goroutines. The plan counts: it is for one Server.
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
