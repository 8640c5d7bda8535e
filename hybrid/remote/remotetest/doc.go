// Package remotetest holds the tests that each implementation of [remote.Remote] must pass.
//
// A remote is tested by a test of its package:
//
//	func TestRemote(t *testing.T) {
//		remotetest.Run(t, func(t *testing.T) remote.Remote { return open(t.TempDir()) })
//	}
package remotetest
