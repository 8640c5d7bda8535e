package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const importers = "github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"

// TestFunctions limits the functions of the importers that an import reaches. An import that
// grew is to be made shorter, or the number says why it may be as long.
func TestFunctions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the numbers are of Linux")
	}
	program := filepath.Join(t.TempDir(), "journey")
	build := exec.CommandContext(t.Context(), "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+importers+"/...", "-o", program, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, most := range map[string]int{"first": 190, "again": 16} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached := functions(t, program, name)
			require.LessOrEqual(t, len(reached), most, "it reaches\n%s", strings.Join(reached, "\n"))
			require.Greater(t, len(reached), most*19/20-1, "the number guards nothing")
		})
	}
}

// functions returns the functions of the importers that an import reaches.
func functions(t *testing.T, program, name string) (reached []string) {
	t.Helper()
	counters := t.TempDir()
	run := exec.CommandContext(t.Context(), program, name, t.TempDir(), counters)
	run.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir(), "AMPLIFIER_SESSION_STATE_HOME="+t.TempDir(), "AMPLIFIER_HOME="+t.TempDir())
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	all, err := exec.CommandContext(t.Context(), "go", "tool", "covdata", "func", "-i", counters).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(all)) {
		words := strings.Fields(line)
		ofProgram := strings.HasPrefix(line, importers+"/internal/journey/")
		if len(words) == 3 && words[2] != "0.0%" && !ofProgram && words[0] != "total" {
			reached = append(reached, words[0]+" "+words[1])
		}
	}
	return reached
}
