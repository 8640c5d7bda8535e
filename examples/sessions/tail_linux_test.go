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

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
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

// TestShowStreams shows a transcript of 100 MB, or in a long test of 1 GB, in at most 64 MiB, to a
// reader of all of it and to a pager that the user leaves at once.
func TestShowStreams(t *testing.T) {
	size := 100 << 20
	if testenv.Long() {
		size = 1 << 30
	}
	root := t.TempDir()
	largeTalk(t, root, "aaa-1", size)
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Args = []string{"sessions", "show", "aaa-1", "-T", "--sessions-root=" + root}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	questions, most := 0, 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "> question ") {
			require.True(t, strings.HasPrefix(lines.Text(), fmt.Sprintf("> question %d of ", questions)), lines.Text())
			if questions++; questions%1000 == 0 { // before it has ended
				most = peak(t, cmd.Process.Pid)
			}
		}
	}
	require.NoError(t, cmd.Wait())
	require.Greater(t, questions, size/8000)
	t.Logf("%d MB", most)
	require.Positive(t, most)
	require.LessOrEqual(t, most, 64)

	p := openPane(t, 80, 24)
	whole := p.whole()
	p.keys("sessions --sessions-root="+root, "Enter")
	p.shows("▸ question 0", "an answer of words", "esc quit")
	for range 2 {
		p.keys("Tab")
		p.shows("Session", "aaa-1", "> question 0")
		p.keys("q")
		p.shows("▸ question 0", "esc quit")
	}
	p.keys("Tab")
	p.shows("> question 0")
	p.keys("C-c")
	p.until(func(screen string) bool { // the pager may drop a key after an interrupt
		if strings.Contains(screen, "lines 1-") {
			return true
		}
		p.keys("=")
		return false
	}, "lines")
	p.keys("q")
	p.shows("▸ question 0", "esc quit")
	p.keys("Escape")
	whole()
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
