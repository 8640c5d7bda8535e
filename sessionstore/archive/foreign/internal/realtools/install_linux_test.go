package realtools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// versions are the versions of the packages of npm that a run installs.
type versions struct{ codex, claude, sdk, pi, copilot string }

// pinned are the versions that each run proves.
var pinned = versions{codex: "0.171.0", claude: "2.1.332", sdk: "0.3.332"}

func (v versions) String() string {
	if v.copilot != "" {
		return "GitHub Copilot CLI " + v.copilot
	}
	if v.pi != "" {
		return "pi " + v.pi
	}
	return fmt.Sprintf("Codex %s, Claude Code %s, Agent SDK %s", v.codex, v.claude, v.sdk)
}

// programs are the tools, as they are installed.
type programs struct {
	versions
	codexBin   string // the program
	claudeBin  string
	piBin      string
	copilotBin string
	node       string
	modules    string // the folder with the Agent SDK
}

// notProven skips the test, or fails it in CI.
func notProven(t *testing.T, reason string) {
	t.Helper()
	testenv.Need(t, false, "not proven: "+reason)
}

// npm runs npm in the folder dir and returns its output.
func npm(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "npm", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
		}
		notProven(t, fmt.Sprintf("npm %s: %v", strings.Join(args, " "), err))
	}
	return strings.TrimSpace(string(out))
}

// newer reports whether the newest version of a tool is not the proven one, and tells the soak.
func newer(newest, proven string) bool {
	if newest != proven {
		fmt.Printf("real tools: newer on npm: %s (proven: %s)\n", newest, proven)
	}
	return newest != proven
}

// newest returns the newest versions.
func newest(t *testing.T) versions {
	t.Helper()
	of := func(name string) string { return npm(t, t.TempDir(), "view", name, "version") }
	return versions{codex: of("@openai/codex"), claude: of("@anthropic-ai/claude-code"), sdk: of("@anthropic-ai/claude-agent-sdk")}
}

// installLimit is the longest wait for another process that uses the same folder.
const installLimit = 30 * time.Minute

// claim returns the folder of that name, which belongs to the test until it ends.
func claim(t *testing.T, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		notProven(t, "there is no cache directory for the tools")
	}
	dir := filepath.Join(cache, "sessionstorage-real-tools", name)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	held, err := lock.Acquire(t.Context(), root, ".lock", lock.Options{Limit: installLimit})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, held.Unlock())
		require.NoError(t, root.Close())
	})
	return dir
}

// install installs the tools into a folder of that name, which belongs to the test until
// it ends.
func install(t *testing.T, name string, v versions) programs {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		notProven(t, "node is not installed")
	}
	dir := claim(t, name)
	sdk := filepath.Join(dir, "sdk")
	require.NoError(t, os.MkdirAll(sdk, 0o755))
	installPackages(t, dir, nil, "@openai/codex@"+v.codex, "@anthropic-ai/claude-code@"+v.claude)
	installPackages(t, sdk, []string{"--omit=optional"}, "@anthropic-ai/claude-agent-sdk@"+v.sdk) // without the program once more
	modules := filepath.Join(dir, "node_modules")
	return programs{
		versions: v, node: node, modules: sdk,
		codexBin:  program(t, modules, "@openai", "codex-*", "vendor", "*", "bin", "codex"),
		claudeBin: program(t, modules, "@anthropic-ai", "claude-code-*", "claude"),
	}
}

// installPackages installs packages into dir, unless it has just them.
func installPackages(t *testing.T, dir string, options []string, packages ...string) {
	t.Helper()
	done := filepath.Join(dir, "installed.json")
	var has []string
	if data, err := os.ReadFile(done); err == nil && json.Unmarshal(data, &has) == nil && strings.Join(has, " ") == strings.Join(packages, " ") {
		return
	}
	for _, former := range []string{"installed.json", "package.json", "package-lock.json", "node_modules"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, former)))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private": true}`), 0o600))
	npm(t, dir, append(append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}, options...), packages...)...)
	data, err := json.Marshal(packages)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(done, data, 0o600))
}

// program returns the program for this machine.
func program(t *testing.T, pattern ...string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(pattern...))
	require.NoError(t, err)
	if len(found) != 1 {
		notProven(t, fmt.Sprintf("%s: %d programs for this machine", filepath.Join(pattern[1:]...), len(found)))
	}
	return found[0]
}
