package realtools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// inspector is the package of npm with the client that the makers of the protocol wrote.
const inspector = "@modelcontextprotocol/inspector@2.12.0"

// TestRecalled proves with clients of others that "sessions mcp" answers: the inspector lists and
// calls its tools, and Claude Code calls one and sends what it told to its model.
func TestRecalled(t *testing.T) {
	testenv.Soak(t, "it installs Claude Code and the inspector")
	l := newLab(t, install(t, "pinned", pinned))
	c := newClaude(t, l).(*claudeCode)
	dir := filepath.Join(filepath.Dir(l.modules), "inspector")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	installPackages(t, dir, nil, inspector)
	client := filepath.Join(dir, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	program := filepath.Join(t.TempDir(), "sessions")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../../../../examples/sessions", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)

	p, err := projects.Open(filepath.Join(c.user, ".amplifier", "projects"), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	st, err := p.Store(sessionstore.ProjectSlug(c.work))
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "told-1", text(t, "user", "The reservoir is made up."), text(t, "assistant", "It is full.")))

	ask := func(args ...string) string {
		return string(c.run(t, c.node, append([]string{client, "--cli", program, "mcp", "--method"}, args...)...))
	}
	require.Contains(t, ask("tools/list"), `"search_sessions"`)
	told := ask("tools/call", "--tool-name", "search_sessions", "--tool-arg", "words=reservoir")
	require.Contains(t, told, "The reservoir is made up.")
	require.Contains(t, told, `"structuredContent"`)
	require.Contains(t, ask("tools/call", "--tool-name", "read_session", "--tool-arg", "session=told-1"), "It is full.")

	config := filepath.Join(c.user, "mcp.json")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `{"mcpServers": {"sessions": {"command": %q, "args": ["mcp"]}}}`, program), 0o600))
	const name = "mcp__sessions__search_sessions"
	c.model.calling("what is in the reservoir", name, object{"words": "reservoir"})
	c.say(t, "what is in the reservoir?", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", name)
	require.Contains(t, c.model.received(t, "what is in the reservoir")[0], "The reservoir is made up.")
	fmt.Printf("real tools: proven with Claude Code %s and %s: both were told what was said\n", pinned.claude, inspector)
}
