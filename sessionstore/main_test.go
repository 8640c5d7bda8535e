package sessionstore_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// childVariable asks the test's program to be a child of a test instead.
const childVariable = "SESSIONSTORE_TEST_CHILD"

// TestMain keeps tests from sharing state with the tools of whoever runs them.
func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		if err := children[name](os.Args[len(os.Args)-1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	testenv.CollectLess()
	err := testenv.RunAtOnce(6)
	state := ""
	if err == nil {
		state, err = os.MkdirTemp("", "sessionstore-state-")
	}
	if err == nil {
		err = os.Setenv("AMPLIFIER_SESSION_STATE_HOME", state)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code := m.Run()
	if err := os.RemoveAll(state); err != nil {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}
