package slice_test

import (
	"fmt"
	"io"
	"os"
	"testing"
)

// childVariable asks the test's program to be a child of a test instead.
const childVariable = "SLICE_TEST_CHILD"

// TestMain keeps tests from sharing state with the tools of whoever runs them.
func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // ends when the parent does
			os.Exit(0)
		}()
		fmt.Println(changeUntilKilled(os.Args[len(os.Args)-1]))
		os.Exit(1)
	}
	state, err := os.MkdirTemp("", "slice-state-")
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
