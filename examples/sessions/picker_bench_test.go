//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// BenchmarkPickerFirstRow measures how long it takes from the start of the
// process until the terminal shows the first of 10,000 sessions in 20 projects.
// The result is the median:
//
//	go test -run=- -bench=FirstRow -benchtime=20x .
func BenchmarkPickerFirstRow(b *testing.B) {
	home := b.TempDir()
	manySessions(b, filepath.Join(home, "projects"), 20, 500)
	forget := func() {
		indexes, err := filepath.Glob(filepath.Join(home, "projects", "*", "sessions", ".sessionstore"))
		require.NoError(b, err)
		for _, dir := range indexes {
			require.NoError(b, os.RemoveAll(dir))
		}
	}
	for name, prepare := range map[string]func(){"index=none": forget, "index=fits": func() {}} {
		b.Run(name, func(b *testing.B) {
			forget()
			pickerFirstRow(b, home, "10000")
			var took []time.Duration
			for b.Loop() {
				prepare()
				took = append(took, pickerFirstRow(b, home, "first question"))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
			b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "ms/max")
		})
	}
}

// pickerFirstRow returns how long it takes until the terminal shows a text.
func pickerFirstRow(b *testing.B, home, text string) time.Duration {
	cmd := exec.Command("sessions")
	cmd.Env = append(os.Environ(), "AMPLIFIER_HOME="+home, "TERM=xterm-256color")
	begin := time.Now()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	require.NoError(b, err)
	defer tty.Close()
	var shown bytes.Buffer
	buf := make([]byte, 1<<16)
	for !bytes.Contains(shown.Bytes(), []byte(text)) {
		n, err := tty.Read(buf)
		require.NoError(b, err)
		shown.Write(buf[:n])
	}
	took := time.Since(begin)
	_, err = tty.WriteString("\x03")
	require.NoError(b, err)
	for err == nil {
		_, err = tty.Read(buf)
	}
	require.NoError(b, cmd.Wait())
	return took
}

// manySessions makes sessions of eight messages, of which the last were written
// an hour ago.
func manySessions(tb testing.TB, root string, projects, each int) {
	var text strings.Builder
	for i := range 4 {
		fmt.Fprintf(&text, `{"role": "user", "content": "first question %d %s"}`+"\n", i, strings.Repeat("why ", 200))
		fmt.Fprintf(&text, `{"role": "assistant", "content": "answer %d %s"}`+"\n", i, strings.Repeat("so ", 300))
	}
	old := time.Now().Add(-time.Hour)
	for p := range projects {
		for i := range each {
			id := fmt.Sprintf("%08d-0000-4000-8000-%012d", p, i)
			dir := filepath.Join(root, fmt.Sprintf("-home-someone-project%d", p), "sessions", id)
			require.NoError(tb, os.MkdirAll(dir, 0o700))
			require.NoError(tb, os.WriteFile(filepath.Join(dir, "transcript.jsonl"), []byte(text.String()), 0o600))
			md := fmt.Sprintf(`{"session_id": %q, "created": "2026-11-18T12:00:00+00:00", "bundle": "unknown", "model": "m", "turn_count": 4, "working_dir": "/home/someone/project%d"}`, id, p)
			require.NoError(tb, os.WriteFile(filepath.Join(dir, "metadata.json"), []byte(md), 0o600))
			for _, name := range []string{"transcript.jsonl", "metadata.json", "."} {
				require.NoError(tb, os.Chtimes(filepath.Join(dir, name), old, old))
			}
			old = old.Add(-time.Second)
		}
	}
	time.Sleep(50 * time.Millisecond) // the files come to rest
}
