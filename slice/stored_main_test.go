package slice_test

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// childVariable asks the test's program to be a child of a test instead.
const childVariable = "SLICE_TEST_CHILD"

// children are those that end by themselves, by the value of childVariable. Not
// every system has them.
var children = map[string]func(dir string) error{}

// TestMain keeps tests from sharing state with the tools of whoever runs them.
func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVariable)]; child != nil {
		if err := child(os.Args[len(os.Args)-1]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(childVariable) != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // ends when the parent does
			os.Exit(0)
		}()
		fmt.Println(changeUntilKilled(os.Args[len(os.Args)-1]))
		os.Exit(1)
	}
	testenv.CollectLess()
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
