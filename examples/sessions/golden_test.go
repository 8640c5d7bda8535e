package main

import (
	"os/exec"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGolden compares this tool with the calls of the reference's command. What runs the
// vectors is a test of the library, which has no tool where its users run it.
func TestGolden(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the vectors hold names that only Linux keeps apart")
	}
	if testing.Short() {
		t.Skip("the race detector sees nothing of it")
	}
	program, err := exec.LookPath("sessions") // these tests, as TestMain has them
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "go", "test", "-v", "-count=1", "-run=^Test(Golden|Rig)$", "./internal/test/conformance", "-tool="+program)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, regexp.MustCompile(`(?m)^golden cli\.json: ([1-9]\d*) of \d+, \d+ deviations$`), string(out))
}
