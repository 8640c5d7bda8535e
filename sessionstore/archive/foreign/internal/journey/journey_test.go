package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

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
	for name, most := range map[string]int{"first": 150, "again": 15} {
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
	dir, counters := t.TempDir(), t.TempDir()
	folder := filepath.Join(dir, "home", "projects", "-w")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "11111111-1111-4111-8111-111111111111.jsonl"), []byte(history()), 0o600))
	began, clock := time.Now(), filepath.Join(dir, "clock")
	require.Eventually(t, func() bool { // what changed just now is read again
		require.NoError(t, os.WriteFile(clock, []byte(time.Now().String()), 0o600))
		fi, err := os.Stat(clock)
		return err == nil && fi.ModTime().Sub(began) > 30*time.Millisecond
	}, time.Minute, 5*time.Millisecond)
	run := exec.CommandContext(t.Context(), program, name, dir, counters)
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

// history returns 8 lines of Claude Code.
func history() string {
	var b strings.Builder
	parent := "null"
	for i := range 8 {
		kind, content := "user", fmt.Sprintf(`"prompt %d"`, i)
		if i%2 == 1 {
			kind, content = "assistant", fmt.Sprintf(`[{"type":"text","text":"answer %d"}],"id":"m%[1]d","model":"a-model","usage":{"input_tokens":5,"output_tokens":7}`, i)
		}
		uuid := fmt.Sprintf(`"%08d-1111-4111-8111-111111111111"`, i)
		fmt.Fprintf(&b, `{"type":%q,"uuid":%s,"parentUuid":%s,"cwd":"/w","timestamp":"2026-04-01T10:00:%02d.000Z","message":{"role":%[1]q,"content":%[5]s}}`+"\n", kind, uuid, parent, i, content)
		parent = uuid
	}
	return b.String()
}
