// Package remotetest holds the tests that each implementation of [remote.Remote] must pass.
//
// A remote is tested by a test of its package:
//
//	func TestRemote(t *testing.T) {
//		remotetest.Run(t, func(t *testing.T) remote.Remote { return open(t.TempDir()) })
//	}
//
// It knows one remote at a time: whether two have one identity, and what becomes of versions in
// one that is made anew, it does not see. Package remote says what is right.
package remotetest
