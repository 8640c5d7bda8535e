package syncer

import "github.com/amplifier-go/sessionstorage/internal/cosmos"

// Estimate is what a sync would send.
type Estimate struct {
	Documents    int
	Bytes        int64
	RequestUnits float64
}

// count adds a document that is to be written.
func (e *Estimate) count(body []byte, replaces bool) {
	e.Documents++
	e.Bytes += int64(len(body))
	e.RequestUnits += cosmos.WriteUnits(len(body), replaces)
}
