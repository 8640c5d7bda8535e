// Package cosmos implements a [remote.Remote] as a container in Azure Cosmos DB: a
// [Remote]. An object is a document there, and a part is a partition. All requests to the
// account are made here. Package throttle decides when, and repeats calls that failed.
//
// # Retries
//
// A request is made once. The client of the SDK and net/http repeat some writes whose
// answer was lost, and not others: the transport of the clients that [Connect] makes
// hides such outcomes from them. One repeat is left to the SDK, since it alone knows the
// regions: where a client prefers regions, and one of them answers 403 with 3 or 1008 or
// takes no connection, the SDK reads the account and makes the request in the next
// region, once and a second later, and does not move again for ten seconds.
//
// # Answers
//
// Each answer is one of the errors of package remote. The statuses are those that the
// service's documentation lists; emulators send some of them too.
//
//	nil             2xx
//	ErrNotExist     404
//	ErrChanged      409, 412
//	ErrTooLarge     413, and an answer larger than any object
//	Throttled       429: not done, and not to be asked again before a time
//	ErrUnreachable  408, 410, 449, 5xx, 403 with 3 or 1008, 404 with 1002, no answer, an answer that
//	                is not from the service: the outcome is unknown, so a swap is ErrUnknown
//	ErrBlocked      401, 403, 404 with 1003: nothing is done until a user acts
//	ErrUnauthorized 401 with 5006 or 5013, 403 with 5300 to 5304 or 5400: a token or role is on its way, or missing
//	ErrFull         403 with 1014: the partition holds all that it can; others go on
//	ErrRefused      all others: asking again changes nothing
//
// While a physical partition is split, the service answers 410.
//
// # Session tokens
//
// A read with a session token sees at least the state that the answer with that token
// had. A replica that is behind answers 404 with 1002, and so does each replica for ever
// when the container is another one: it was made anew, or restored, or the account lost
// writes as it failed over. So a read that is refused is made again after half a second,
// and then without the token. It may see an older state; package remoteread notices that
// by the revision of the head. Tokens end with the program. So an object that was there
// once, and is missing in a read without a token, is read in a batch, which the replica
// that takes the writes answers.
//
// A client that [Connect] makes with a credential asks it for a new token when the
// service refuses the present one, and makes the request again, once.
package cosmos
