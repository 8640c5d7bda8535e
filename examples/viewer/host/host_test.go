package host

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func TestProgram(t *testing.T) {
	require.Equal(t, "amplifier", Program())
	require.Equal(t, "amplifier", Program("", ""))
	require.Equal(t, "b", Program("", "b", "c"))
}

func TestResumeLine(t *testing.T) {
	for want, got := range map[string]string{
		`amplifier session resume s-1`:                                     ResumeLine("amplifier", "", "s-1"),
		`cd '/a/it'\''s  here' && amplifier session resume s-1`:            ResumeLine("amplifier", "/a/it's  here", "s-1"),
		"cd '/a\ufffdrm -r ~\ufffd\ufffd' && 'my host' session resume s-1": ResumeLine("my host", "/a\nrm -r ~\u202e\xff", "s-1"),
		`amplifier session resume 's;1'`:                                   ResumeLine("amplifier", "", "s;1"),
		"cd '/a\ufffd\ufffdb' && 'my host' session resume 1-a":             ResumeLine("my host", "/a\x1b\nb", "1-a"),
		`amplifier session resume -- -rf`:                                  ResumeLine("amplifier", "", "-rf"),
		`amplifier session resume -- '--help me'`:                          ResumeLine("amplifier", "", "--help me"),
		`h session resume ''`:                                              ResumeLine("h", "", ""),
	} {
		require.Equal(t, want, got)
	}
}

// TestResume has no program take an id for a flag.
func TestResume(t *testing.T) {
	require.Equal(t, []string{"h", "session", "resume", "s-1", "--force-bundle", "b"}, Resume("h", "s-1", "--force-bundle", "b"))
	require.Equal(t, []string{"h", "session", "resume", "--force-bundle", "b", "--", "--help"}, Resume("h", "--help", "--force-bundle", "b"))
	require.Equal(t, []string{"s-1"}, Argument("s-1"))
	require.Equal(t, []string{"--", "-"}, Argument("-"))
}

// TestOrigin has sessions of tools, of others, and metadata that says nothing.
func TestOrigin(t *testing.T) {
	for text, want := range map[string]string{`{"tool": "claude", "id": "x"}`: "claude", `{"tool": "codex"}`: "codex", `{"tool": "rm -rf"}`: "", `"claude"`: "", `{"tool": 1}`: ""} {
		md, err := sessionstore.NewMetadata(map[string]any{"import": json.RawMessage(text)})
		require.NoError(t, err)
		require.Equal(t, want, Origin(md), text)
	}
	require.Empty(t, Origin(sessionstore.Metadata{}))
	require.Equal(t, "Claude Code", Tool("claude"))
	require.Equal(t, "cd /w && sessions resume --with claude s-1", OnwardLine("/w", "claude", "s-1"))
	require.Equal(t, "sessions resume --with codex -- -rf", OnwardLine("", "codex", "-rf"))
}
