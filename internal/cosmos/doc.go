// Package cosmos is the [remote.Remote] that is a container in Azure Cosmos DB: a [Client]. An
// object is a document there, and a part is a partition. All requests to the account are made
// here.
//
// # Retries
//
// All retries are made here. The client of the SDK and net/http make none, since they
// repeat some writes of which the answer was lost, and not others: the transport of the
// clients that [Open] makes hides from them what they repeat. One repeat is the SDK's, since
// it alone knows the regions: where a client prefers regions, and one of them answers 403 with
// 3 or 1008 or takes no connection, the SDK reads the account and makes the request in the
// next region, once for a call and a second later. A request
// is made at most four times beside. It is repeated when the service did not do it, and
// when nobody knows whether it was done, if doing it twice is the same as doing
// it once. A batch with a condition on what was there is not such a request: its
// answer is Unknown then, and the caller reads what there is.
//
// # Answers
//
// Each answer is one of the classes below. Statuses are those of the service's
// documentation; emulators send some of them too.
//
//	OK            2xx
//	Missing       404
//	Exists        409: it was there before
//	Changed       412: somebody else was first
//	TooLarge      413
//	Throttled     429: not done, and not to be asked again before a time
//	Unknown       408, 410, 449, 5xx, 403 with 3 or 1008, 404 with 1002, no answer, an answer that
//	              is not from the service: nobody knows
//	Abandoned     the caller stopped waiting
//	Denied        401, 403, 404 with 1003: nothing is done until somebody acts
//	Unauthorized  401 with 5006 or 5013, 403 with 5300 to 5304 or 5400: a token or role is on its way, or missing
//	Full          403 with 1014: the partition holds all that it can; others go on
//	Refused       all others: asking again changes nothing
//
// While a physical partition is split, the service answers 410. The continuation of
// a query names the row after which it goes on, so the page that is asked for again
// yields no row twice.
//
// # Session tokens
//
// A read with a session token sees at least what the answer with that token saw. A
// replica that is behind answers 404 with 1002, and so does each replica for ever when
// the container is another one: it was made anew, or restored, or the account lost
// writes as it failed over. So a read that is refused twice is made without the token.
// It may see an older state; package remoteread tells by the revision of the head. Tokens end
// with the program. So an object that was there once, and is missing in a read without a token,
// is read in a batch, which the replica that takes the writes answers.
//
// # Tokens
//
// A client that [Open] makes with a credential asks it for a new token when the
// service refuses the one it has, and makes the request again, once. A role
// assignment takes some minutes until the service knows it, and nothing tells a
// late one from none. So the budget lets one request a minute ask for half an hour,
// and then one in 15 minutes.
//
// # Budget
//
// A [Budget] holds what the requests of a process to one account have in common:
// it slows down when the account throttles, stops when it does not answer, lets a
// single request find out whether it is back, and keeps the limit of the user. An account
// is away for half a minute when nothing takes the connection, something else answers,
// a request gets no answer in the time that it has, or the first request of all, or
// the fourth in a row, breaks.
package cosmos
