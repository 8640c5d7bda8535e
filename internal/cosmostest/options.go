package cosmostest

import (
	"context"
	"time"
)

// Options configure a [Server]. The zero value is a server without faults
// and limits of throughput, on the clock of the process.
type Options struct {
	// Name is the account's, a part of Endpoint; "" makes a random one.
	// azcosmos caches containers by endpoint for the whole process, so
	// two servers of one process must not share a name.
	Name string

	// Key is the account's key in base64; "" is 64 zero bytes.
	Key string

	// AAD judges bearer tokens; nil refuses all.
	AAD func(token string) TokenState

	// Now is the clock of expiry, time stamps and of the check of
	// x-ms-date; nil is time.Now.
	Now func() time.Time

	// Sleep waits for [Fault.Delay] and [Fault.Hold]; nil uses a timer.
	Sleep func(context.Context, time.Duration) error

	// Consistency is the account's default level.
	Consistency Consistency

	// Throughput is how many request units a container serves in a second
	// before it answers 429; 0 is no limit.
	Throughput float64

	// PartitionBytes is how many bytes of documents a logical partition may hold:
	// a write that would make it larger is answered with 403 and 1014; 0 is no limit.
	PartitionBytes int

	// Observe is told of every request when it is over, one at a time. It
	// may call the Server's methods except Inject.
	Observe func(Record)
}
