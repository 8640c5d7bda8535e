package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// peak returns the most memory that a process had, in MB.
func peak(t *testing.T, process int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, found)
	kB, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return kB / 1000
}

// TestTailReadsTheEnd follows a transcript of 200 MB, to which messages are added: it is never
// in memory as a whole.
func TestTailReadsTheEnd(t *testing.T) {
	root := t.TempDir()
	largeTalk(t, root, "aaa-1", 200<<20)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Args = []string{"sessions", "tail", "-f", "-n", "1", "aaa-1", "--sessions-root=" + root}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	until := func(text string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatal("it ended")
	}
	until("an answer of words")
	f, err := os.OpenFile(filepath.Join(root, "p", "sessions", "aaa-1", "transcript.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	for i := range 3 {
		_, err = fmt.Fprintf(f, `{"role": "user", "content": "added %d"}`+"\n", i)
		require.NoError(t, err)
		until(fmt.Sprintf("added %d", i))
	}
	require.NoError(t, f.Close())
	most := peak(t, cmd.Process.Pid)
	t.Logf("%d MB", most)
	require.Less(t, most, 150)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
}
