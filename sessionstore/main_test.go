package sessionstore_test

import (
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// children are the functions that the test's program runs in processes of their own.
var children = map[string]testenv.Child{}

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, children)
}

// spawn starts a child whose home, and where it looks for shared state, are below home.
func spawn(t *testing.T, name, dir, argument, home string) *testenv.Process {
	t.Helper()
	return testenv.Spawn(t, name, dir, argument, homeIn(home)...)
}

// homeIn returns the variables by which a child has its home there.
func homeIn(home string) []string {
	return []string{
		"TMPDIR=" + home, "HOME=" + home, "XDG_STATE_HOME=" + home + "/state",
		"AMPLIFIER_HOME=" + home + "/.amplifier", "AMPLIFIER_SESSION_STATE_HOME=",
	}
}
