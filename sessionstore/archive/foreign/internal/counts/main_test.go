package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m, nil) }

// TestRun prints a line of JSON for each session in the files of a tool.
func TestRun(t *testing.T) {
	home, root := "../../testdata/claude", t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", home)
	var out, some bytes.Buffer
	require.NoError(t, run(&out, "claude", "", "", root))
	require.Contains(t, out.String(), `"prompts": {"whole": `)
	golden, err := os.ReadFile("../../testdata/golden/counts.jsonl")
	require.NoError(t, err)
	for line := range strings.Lines(out.String()) {
		var c struct{ ID, File string }
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		require.Contains(t, filepath.ToSlash(c.File), home)
		require.Contains(t, string(golden), c.ID)
	}
	var named bytes.Buffer
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	require.NoError(t, run(&named, "claude", "", "", root, home))
	require.Equal(t, out.String(), named.String())
	left, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, left, "nothing is written")
	require.NoError(t, run(&some, "claude", "2999-01-01", "", root))
	require.NoError(t, run(&some, "claude", "", "-nowhere", root))
	require.Empty(t, some.String())
	require.Error(t, run(&some, "gemini", "", "", root))
	require.Error(t, run(&some, "claude", "never", "", root))
}
