// Package cosmossql understands the part of Azure Cosmos DB's query language
// that a gateway serves without the help of a client: one FROM, WHERE, GROUP
// BY, ORDER BY, OFFSET and LIMIT, TOP, projections, aggregates and the common
// functions, with parameters. What it does not know is an error, never
// silently something else: joins, subqueries, DISTINCT, spatial and text
// search are such.
//
// Expressions have three truth values, as in the service: what compares
// different types, or has an operand that the document lacks, is undefined,
// and WHERE keeps a document only for true.
//
// The package is pure: it is given documents and says what becomes of them.
package cosmossql
