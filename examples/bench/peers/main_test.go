package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test is the program that it tests when the driver runs it.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_PEERS") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// layOut makes a data folder with a transcript of 12 messages and 12 sessions.
func layOut(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	row := `{"role": "user", "content": "ask", "timestamp": "2026-01-05T10:00:00+00:00"}` + "\n"
	files := map[string]string{"t12.jsonl": strings.Repeat(row, 12)}
	for i := range 12 {
		id := filepath.Join("base12", fmt.Sprintf("%02x2c4d6a8-session", i))
		files[filepath.Join(id, "metadata.json")] = `{"session_id": "s"}`
		files[filepath.Join(id, "transcript.jsonl")] = row
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	t.Setenv("BENCH_DATA", folder)
	t.Setenv("BENCH_WORK", t.TempDir())
}

func TestPeers(t *testing.T) {
	layOut(t)
	operations := []string{"append 12 3 synced", "append 12 3 relaxed", "load 12 2", "list 12 2", "appenders 3 4 synced", "appenders 3 4 relaxed"}
	for _, name := range []string{"sqlite", "bbolt", "wal"} {
		for _, op := range operations {
			args := strings.Fields(name + " " + op)
			t.Run(name+" "+op, func(t *testing.T) {
				var out bytes.Buffer
				err := peers(args, &out)
				if name == "sqlite" && !hasSQLite || name == "wal" && args[1] == "list" {
					require.ErrorIs(t, err, errNone)
					return
				}
				require.NoError(t, err)
				var got result
				require.NoError(t, json.Unmarshal(out.Bytes(), &got))
				require.Equal(t, args[1], got.Op)
				require.Positive(t, got.N)
				require.Positive(t, got.Median)
			})
		}
	}
	left, err := os.ReadDir(os.Getenv("BENCH_WORK"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// What was added is there, in order.
func TestLines(t *testing.T) {
	for name, open := range stores {
		if name == "sqlite" && !hasSQLite {
			continue
		}
		t.Run(name, func(t *testing.T) {
			st, err := open(t.TempDir(), synced)
			require.NoError(t, err)
			want := [][]byte{[]byte("a\n"), []byte("b\n"), []byte("c\n")}
			require.NoError(t, st.fill(want[:2]))
			require.NoError(t, st.add(want[2]))
			got, err := st.lines()
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.NoError(t, st.Close())
		})
	}
}

func TestWrongArguments(t *testing.T) {
	layOut(t)
	for _, args := range []string{"", "bbolt append 12", "other append 12 3 synced", "bbolt append x 3 synced", "bbolt append 0 3 synced", "bbolt append 12 3 normal", "wal fly 12 3 synced"} {
		require.ErrorIs(t, peers(strings.Fields(args), &bytes.Buffer{}), errUsage, args)
	}
}

// The driver runs this program beside its own operations.
func TestDriver(t *testing.T) {
	if !hasSQLite {
		return // the comparison has it
	}
	layOut(t)
	driver := filepath.Join(t.TempDir(), "bench.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", driver, ".")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("BENCH_PEERS", self)

	out, err = exec.CommandContext(t.Context(), driver, "peers", "12", "3").CombinedOutput()
	require.NoError(t, err, string(out))
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var got result
		require.NoError(t, json.Unmarshal([]byte(line), &got), line)
		require.Positive(t, got.Median, line)
		seen[got.Op] = true
	}
	for _, op := range []string{"append-durable", "append-synced-sqlite", "append-relaxed-bbolt", "load-wal", "list", "list-sqlite", "appenders-64"} {
		require.True(t, seen[op], "%s is not in\n%s", op, out)
	}

	for _, args := range []string{"turns 2 1000 5", "turns 3 2000000 5"} {
		out, err = exec.CommandContext(t.Context(), driver, strings.Fields(args)...).CombinedOutput()
		require.NoError(t, err, string(out))
		for _, op := range []string{"index-build", "index-size", "turn", "resume-25", "turn-appended", "load", "turn-sqlite"} {
			require.Equal(t, 1, strings.Count(string(out), fmt.Sprintf(`"op":%q`, op)), "%s in\n%s", op, out)
		}
	}
}
