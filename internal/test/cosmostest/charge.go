package cosmostest

// The charges are a model. The published facts about the real charges (learn.microsoft.com,
// azure/cosmos-db/optimize-cost-reads-writes) are: a point read of 1 KB costs 1 unit and of
// 100 KB 10; an insert of 1 KB without indexes 5.5, of 100 KB about ten times that;
// replacing an item costs twice its insertion; each indexed property adds to a write, here
// the id and the partition key. Between these points the model is a straight line. The
// share of an indexed value and the prices of a query and of refusals are assumptions near
// the figures that users report.
const (
	insertFactor  = 5.5
	termCharge    = 0.2
	terms         = 2
	pageCharge    = 2.8
	loadFactor    = 0.25 // of a point read, for each document that a query loads
	refusedCharge = 1.24 // 404, 409, 412 and the like
	controlCharge = 2    // of operations on databases and containers
)

// ReadCharge returns the request units of a point read of so many bytes.
func ReadCharge(bytes int) float64 {
	kb := max(1, float64(bytes)/1024)
	return 1 + (kb-1)*9/99
}

// WriteCharge returns the request units of an insert of so many bytes. A
// replacement costs twice that, a deletion as much.
func WriteCharge(bytes int) float64 { return insertFactor*ReadCharge(bytes) + terms*termCharge }
