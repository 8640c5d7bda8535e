package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func init() {
	programs["unlocked"] = func() { // sessions, where the system refuses every lock
		runtime.LockOSThread()
		if err := testenv.RefuseLocks(uint64(unix.ENOLCK)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(125)
		}
		main()
	}
}

// TestSingleWriter changes sessions where no locks are to be had: each command says which flag
// goes on, and goes on with it.
func TestSingleWriter(t *testing.T) {
	t.Parallel()
	testenv.Need(t, runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64", "the filter reads the arguments of system calls of little-endian 64-bit systems")
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script", "nolocks"), Setup: setUp, RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "old": old},
	})
}
