package sessioncost

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDescriptions lists the files for a session in one of the usual places, and for one
// elsewhere. A base that does not count for [Locate] does not count here.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	home, base := t.TempDir(), t.TempDir()
	at := func(root ...string) string {
		return filepath.Join(append(root, "demo", "sessions", "s", "context-intelligence", "metadata.json")...)
	}
	usual := []string{at(home, ".amplifier", "projects"), at(home, ".amplifier-agent", "state", "workspaces")}
	for _, dir := range usual {
		session := filepath.Dir(filepath.Dir(dir))
		require.ElementsMatch(t, usual, Descriptions(session, "", home), "each once")
		require.Equal(t, dir, Descriptions(session, "", home)[0])
	}
	elsewhere := filepath.Join(t.TempDir(), "demo", "sessions", "s")
	own := filepath.Join(elsewhere, "context-intelligence", "metadata.json")
	require.Equal(t, []string{own, at(base), usual[0], usual[1]}, Descriptions(elsewhere, " "+base+"\n", home))
	require.Equal(t, []string{own}, Descriptions(elsewhere, "~/captures", ""))
	require.Equal(t, []string{own, at(home, "captures"), usual[0], usual[1]}, Descriptions(elsewhere, "~/captures", home))
	require.Equal(t, []string{own, usual[0], usual[1]}, Descriptions(elsewhere, "${HOME}/captures", home))
}
