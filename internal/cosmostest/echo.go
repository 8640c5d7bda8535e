package cosmostest

// An echo is a request that comes once more.
type echo struct {
	due  int // the request after whose arrival
	call *call
}
