//go:build unix

package foreign

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// TestNamedPipes has named pipes, loops of symlinks and directories in the place of
// files: nobody waits for them, and all else is found and imported.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-w")
	agents := filepath.Join(dir, "g", "subagents")
	require.NoError(t, os.MkdirAll(agents, 0o700))
	for path, text := range map[string]string{
		filepath.Join(dir, "g.jsonl"):          many("g", 2),
		filepath.Join(agents, "agent-a.jsonl"): many("a", 1),
		filepath.Join(agents, "agent-b.jsonl"): many("b", 1),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for _, path := range []string{
		filepath.Join(dir, "pipe.jsonl"), filepath.Join(agents, "agent-a.meta.json"), filepath.Join(agents, "agent-pipe.jsonl"),
	} {
		require.NoError(t, syscall.Mkfifo(path, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(agents, "agent-b.meta.json"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory.jsonl"), 0o700))
	for _, loop := range []string{filepath.Join(home, "projects", "-loop"), filepath.Join(dir, "loop.jsonl"), filepath.Join(agents, "agent-loop.jsonl")} {
		require.NoError(t, os.Symlink(loop, loop))
	}
	all, err := Find(t.Context(), Claude, &FindOptions{Home: home})
	require.ErrorContains(t, err, "-loop")
	require.ErrorContains(t, err, "loop.jsonl")
	require.Len(t, all, 1)
	require.Len(t, all[0].Agents, 2)
	p := openProjects(t)
	report, err := Import(t.Context(), p, all[0], nil)
	require.NoError(t, err)
	require.Len(t, report.Sessions, 3)

	st, err := p.Store(report.Project)
	require.NoError(t, err)
	id := report.Sessions[0].ID
	for _, name := range []string{mapFile, originalFile} { // what stands in the store waits for nobody, either
		path := filepath.Join(st.Dir(), id, importFolder, name)
		require.NoError(t, os.Remove(path))
		require.NoError(t, syscall.Mkfifo(path, 0o600))
	}
	_, err = Longer(st, id)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
	_, err = Import(t.Context(), p, all[0], nil)
	require.ErrorIs(t, err, vfs.ErrNotRegular)
}

// TestNamedPipesOfCodex does it with what Codex writes.
func TestNamedPipesOfCodex(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "sessions")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-good.jsonl"), []byte(`{"type":"session_meta","payload":{"id":"good"}}`), 0o600))
	for _, path := range []string{filepath.Join(home, "session_index.jsonl"), filepath.Join(dir, "rollout-pipe.jsonl"), filepath.Join(dir, "rollout-p.jsonl.zst")} {
		require.NoError(t, syscall.Mkfifo(path, 0o600))
	}
	all, err := Find(t.Context(), Codex, &FindOptions{Home: home})
	require.ErrorContains(t, err, "session_index.jsonl")
	require.Len(t, all, 1)
	for _, path := range []string{filepath.Join(dir, "rollout-pipe.jsonl"), filepath.Join(dir, "rollout-p.jsonl.zst")} {
		_, err = Import(t.Context(), openProjects(t), History{Tool: Codex, ID: "p", Path: path}, nil)
		require.ErrorIs(t, err, vfs.ErrNotRegular)
	}
}

// TestNamedPipeOfSettings exports to Codex where its settings are a named pipe.
func TestNamedPipeOfSettings(t *testing.T) {
	t.Setenv("CODEX_HOME", t.TempDir())
	require.NoError(t, syscall.Mkfifo(filepath.Join(os.Getenv("CODEX_HOME"), "config.toml"), 0o600))
	st, err := openProjects(t).Store("-shop")
	require.NoError(t, err)
	ask, err := sessionstore.Text("user", "Hello?", time.Unix(1, 0))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "s", ask))
	require.Contains(t, exported(t, st, "s", Codex), `"model_provider":"openai"`)
}
