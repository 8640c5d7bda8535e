package remotetest

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/hybrid/remote"
)

// Run tests the remotes that open returns. Each call of open returns a remote without objects,
// which answers until the test that it is called with ends.
func Run(t *testing.T, open func(t *testing.T) remote.Remote) {
	t.Helper()
	for _, part := range []struct {
		name string
		test func(s *suite)
	}{
		{"Get", testGet},
		{"Names", testNames},
		{"Bodies", testBodies},
		{"Labels", testLabels},
		{"Create", testCreate},
		{"Replace", testReplace},
		{"Whole", testWhole},
		{"Split", testSplit},
		{"NotSwapped", testNotSwapped},
		{"StoredTwice", testStoredTwice},
		{"Twice", testTwice},
		{"Larger", testLarger},
		{"Remove", testRemove},
		{"Together", testTogether},
		{"AtOnce", testAtOnce},
		{"Beside", testBeside},
		{"Delete", testDelete},
		{"Changes", testChanges},
		{"Order", testOrder},
		{"Prefix", testPrefix},
		{"After", testAfter},
		{"Since", testSince},
		{"StoredAgain", testStoredAgain},
		{"Pages", testPages},
		{"Info", testInfo},
		{"Canceled", testCanceled},
		{"Observed", testObserved},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.test(&suite{T: t, r: open(t)})
		})
	}
}
