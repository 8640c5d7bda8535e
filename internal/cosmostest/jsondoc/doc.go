// Package jsondoc holds JSON as Azure Cosmos DB stores it: numbers are doubles,
// members keep their order, names are unique, nesting is bounded.
//
// A [Value] is one of nil, bool, float64, string, []Value, [*Object] and
// [Undefined]. Values are immutable once made: they are shared freely, also
// between goroutines, and what changes a value returns another one.
package jsondoc
