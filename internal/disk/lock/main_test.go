package lock

import (
	"io"
	"os"
	"testing"
)

// children are what other processes of the tests do, by the variable that has their directory.
var children = map[string]func(dir string){"FILELOCK_TEST_HOLD": holdUntilKilled}

func TestMain(m *testing.M) {
	for variable, do := range children {
		if dir := os.Getenv(variable); dir != "" {
			do(dir)
		}
	}
	os.Exit(m.Run())
}

// holdUntilKilled is the other process of the tests.
func holdUntilKilled(dir string) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		_, err = Try(root, "x.lock", 0o600)
	}
	if err != nil {
		_, _ = io.WriteString(os.Stdout, err.Error()+"\n")
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, "locked\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
