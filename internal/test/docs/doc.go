// Package docs holds the pages of the repository to what the code is: that
// tests, names, files and packages that they name exist, that their programs
// compile, and that their commands run.
//
// A block of commands begins with ```sh and runs in a shell that stops at the
// first failure, in the top folder, with a home of its own. Only go test ./...
// is left out, of which this package is part. A word behind sh says what it
// needs:
//
//	slow    it runs only with TEST_LONG set
//	get     it runs in a new module, for which this one is published
//	azure   az is a program that only looks at what it is given
//	cloud   COSMOS_ENDPOINT and COSMOS_KEY are those of a server in this process
//	serve   it runs until it has printed an address
package docs
