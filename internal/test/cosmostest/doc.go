// Package cosmostest is an Azure Cosmos DB account in memory for tests and examples. It is
// strict: it refuses all requests that the service refuses, and does nothing silently that
// the service does not do.
//
// A [Server] is an [net/http.Handler], and [Server.Transport] reaches it
// without sockets, goroutines or timers, also inside a bubble of
// testing/synctest:
//
//	srv := cosmostest.New(nil)
//	cred, err := azcosmos.NewKeyCredential(srv.Key())
//	client, err := azcosmos.NewClientWithKey(srv.Endpoint(), cred, &azcosmos.ClientOptions{
//		ClientOptions: policy.ClientOptions{Transport: srv.Transport()}})
//
// # Served requests
//
// Signatures and clocks are checked; databases, and containers with the properties that this
// project gives them; documents by create, upsert, replace of a version, delete and read; the one
// query that this project sends, with pages and continuations; atomic batches; session tokens;
// bearer tokens; request charges; limits of sizes and counts. The same requests get the same
// answers: etags, resource ids and charges depend on nothing but them and the clock.
//
// # Refused requests
//
// All requests that this project does not send are refused: every other query, conditions
// of writes other than of a replacement, writes that want the document back, times to live,
// partition keys of other forms than one string, unique keys, offers, other indexes, lists
// of containers, changes of containers, patches, and the change feed. A replica lags only
// by a [Fault], as far as the account's [Consistency] allows, and only a fault refuses
// requests for coming too fast. Charges are a model, see [WriteCharge]. Nothing here was
// compared with the service itself: it follows the service's documentation, and the
// expectations of azcosmos.
//
// # Faults
//
// A [Plan] chooses a fault for each request: refusals, lost answers, delays, repetitions,
// stale replicas, short pages. [Server.Docs], [Server.Edit], [Server.Snapshot] and others
// look at and change the account behind the service's back; [Server.Counters] and
// [Options].Observe show the requests.
package cosmostest
