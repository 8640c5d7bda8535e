// Package docs compares the pages of the repository with the code: the tests, names, files
// and packages that they name must exist, their programs must compile, and their commands
// must run. It also holds the comments of the code to plain English.
//
// A block of commands begins with ```sh and runs in a shell that stops at the first
// failure, in the top folder, with a home of its own. Only go test ./... is left out, which
// CI runs by itself. A word behind sh names a need of the block:
//
//	slow    it runs only with TEST_LONG set
//	get     it runs in a new module, for which this one is published
//	azure   az is a program that only looks at its arguments
//	cloud   COSMOS_ENDPOINT and COSMOS_KEY name a server in this process
//	serve   it runs until it has printed an address
package docs
