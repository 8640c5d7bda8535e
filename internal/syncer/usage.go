package syncer

import "github.com/amplifier-go/sessionstorage/internal/throttle"

// Estimate is what a sync would send.
type Estimate struct {
	Documents    int
	Bytes        int64
	RequestUnits float64
}

// count adds a document of some bytes that is to be written.
func (e *Estimate) count(size int, replaces bool) {
	e.Documents++
	e.Bytes += int64(size)
	e.RequestUnits += throttle.WriteUnits(size, replaces)
}
