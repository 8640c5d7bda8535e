package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "github.com/amplifier-go/sessionstorage"

// TestFunctions compares how many functions each journey reaches with
// testdata/functions.txt. A journey that grew is to be made shorter, or the file says why it
// may be as long; of one that shrank the file gets the new number.
func TestFunctions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the numbers are of Linux")
	}
	want := map[string]int{}
	text, err := os.ReadFile("testdata/functions.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if name, n, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(name, "#") {
			var most int
			_, err := fmt.Sscan(n, &most)
			require.NoError(t, err, line)
			want[name] = most
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(journeys)), slices.Collect(maps.Keys(want)))

	program := filepath.Join(t.TempDir(), "journey")
	build := exec.CommandContext(t.Context(), "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+root+"/...", "-o", program, ".")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, most := range want {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached := functions(t, program, name)
			n := len(reached)
			require.LessOrEqual(t, n, most, "it reaches\n%s", strings.Join(reached, "\n"))
			require.Greater(t, n, most*19/20, "the number in the file guards nothing")
		})
	}
}

// functions returns the functions of the library that the journey reaches.
func functions(t *testing.T, program, name string) (reached []string) {
	t.Helper()
	counters, home := t.TempDir(), t.TempDir()
	run := exec.CommandContext(t.Context(), program, name, t.TempDir(), counters)
	run.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir(), "AMPLIFIER_SESSION_STATE_HOME="+filepath.Join(home, "state"), "AMPLIFIER_HOME="+filepath.Join(home, "amplifier"))
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	all, err := exec.CommandContext(t.Context(), "go", "tool", "covdata", "func", "-i", counters).Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(all)) {
		words := strings.Fields(line)
		ofProgram := strings.HasPrefix(line, root+"/internal/test/")
		if len(words) == 3 && words[2] != "0.0%" && !ofProgram && words[0] != "total" {
			reached = append(reached, words[0]+" "+words[1])
		}
	}
	slices.Sort(reached)
	return reached
}
