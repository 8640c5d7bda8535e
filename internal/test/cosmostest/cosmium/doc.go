// Package cosmium pins github.com/pikami/cosmium, a server for Azure Cosmos DB by others,
// which tests build and start. It is a module of its own so that this library does not
// depend on that server's dependencies.
package cosmium
