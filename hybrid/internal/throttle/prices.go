package throttle

import "github.com/amplifier-go/sessionstorage/hybrid/remote"

// The prices are those that Azure Cosmos DB publishes: a point read of 1 KB costs
// one request unit and of 100 KB ten, an insert 5.5 times that and a little for
// each indexed value, a replacement twice as much as an insert.
const (
	insertFactor  = 5.5
	indexedValue  = 0.2
	indexedValues = 1
)

// ReadUnits returns the cost of a point read of a document of so many bytes.
func ReadUnits(bytes int) float64 {
	kb := max(1, float64(bytes)/1024)
	return 1 + (kb-1)*9/99
}

// WriteUnits returns the cost of storing a document of so many bytes, new or in the place
// of another.
func WriteUnits(bytes int, replaces bool) float64 {
	units := insertFactor*ReadUnits(bytes) + indexedValue*indexedValues
	if replaces {
		units *= 2
	}
	return units
}

// expectedRead is the expected cost of a read or a page of a list. Most cost less: their
// sizes are not known before.
const expectedRead = 10

// expected returns the expected cost of a commit.
func expected(objects []remote.Object, swap *remote.Swap) (units float64) {
	for i := range objects {
		units += WriteUnits(objects[i].Size(), false)
	}
	if swap != nil {
		units += WriteUnits(swap.Size(), swap.If != "") + removal*float64(len(swap.Remove))
	}
	return units
}

// removal is the expected cost of the removal of an object.
const removal = insertFactor + indexedValue*indexedValues
