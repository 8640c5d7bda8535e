// Package hybridtest has a remote in memory for tests of programs that use package hybrid. It
// can be cut off, as without a network; hung, as behind a network that swallows requests; and
// mended.
//
// A store behaves as with any remote: where it found that the remote is away, it asks again
// after 30 seconds, also when the remote was mended before. In a test with package
// testing/synctest they pass at once; a store that is opened anew asks at once.
package hybridtest
