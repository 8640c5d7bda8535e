package cosmostest

import (
	"time"
)

// A Fault is what happens to a request beyond being served. Its fields
// combine; the zero value is no fault.
type Fault struct {
	Delay      time.Duration // before the request is applied
	Hold       time.Duration // after it was applied, before the answer
	Status     int           // refused with it, not applied
	SubStatus  int           // of Status
	RetryAfter time.Duration // of Status, in milliseconds
	Operation  int           // batches: Status is that of this operation, from 1, or of the last; the others are 424
	Drop       bool          // not applied, and the connection breaks
	Lose       bool          // applied, and the connection breaks
	Duplicate  bool          // applied twice; the first answer is sent
	Retried    bool          // applied twice; the second answer is sent
	Echo       int           // applied once more, unseen, when so many further requests have arrived
	Stale      int           // reads: by a replica that lacks the newest writes, so many and MaxStale at most
	Page       int           // queries: so many rows on a page at most; -1: none, and a continuation
}

// MaxStale is how many writes of a container a replica may lack.
const MaxStale = 32

// Refuse answers with a status; retryAfter, if any, is told.
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
