// Package cosmium pins github.com/pikami/cosmium, a server for Azure Cosmos DB
// by others, which tests build and start. It is a module of its own so that
// what that server needs is none of this library's business.
package cosmium
