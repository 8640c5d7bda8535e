package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// largeStore makes a project of n sessions, every third of which is a
// sub-session, every tenth broken and every hundredth old.
func largeStore(t *testing.T, n int) (root string) {
	t.Helper()
	root = t.TempDir()
	old := time.Now().AddDate(0, 0, -60)
	for i := range n {
		id := fmt.Sprintf("%08x-session", uint32(i)*2654435761) // spread, and each once
		if i%3 == 0 {
			id = fmt.Sprintf("0000000000000000-%016x_agent", i)
		}
		dir := filepath.Join(root, "p", "sessions", id)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		metadata := fmt.Sprintf(`{"session_id": %q, "created": "2026-01-01T00:00:%02d.%06d+00:00", "bundle": "bundle:foundation", "model": "m", "turn_count": 1, "name": "Session %d"}`, id, i%60, i, i)
		transcript := `{"role": "user", "content": "question number ` + fmt.Sprint(i) + `"}` + "\n"
		if i%10 == 0 {
			transcript += `{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}` + "\n"
		} else {
			transcript += `{"role": "assistant", "content": "` + strings.Repeat("answer ", 100) + `"}` + "\n"
		}
		for name, text := range map[string]string{"metadata.json": metadata, transcriptName: transcript} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			if i%100 == 0 {
				require.NoError(t, os.Chtimes(filepath.Join(dir, name), old, old))
			}
		}
		if i%100 == 0 {
			require.NoError(t, os.Chtimes(dir, old, old))
		}
	}
	return root
}

// TestLarge runs the commands that look at all sessions of a large project,
// and shows how long they take.
func TestLarge(t *testing.T) {
	t.Parallel()
	n := 300
	if testenv.Long() {
		n = 10_000
	}
	root := largeStore(t, n)
	top := n - (n+2)/3
	tests := []struct {
		args   []string
		counts string
		want   int
	}{
		{[]string{"list", "-n", "20"}, "\n", 20},
		{[]string{"list", "-n", "0"}, "\n", top},
		{[]string{"list", "-n", "0", "-a"}, "\n", n},
		{[]string{"find"}, `"session_id"`, 50},
		{[]string{"find", "--limit", "1000000"}, `"session_id"`, n},
		{[]string{"find", "--status", "broken", "--limit", "1000000"}, `"session_id"`, n / 10},
		{[]string{"find", "--keyword", "number 17\"", "--limit", "1000000"}, `"session_id"`, 1},
		{[]string{"info", "0000000000000000-0000000000000003"}, `"session_id"`, 1},
		{[]string{"list", "--tree", "0000000000000000-0000000000000003_agent"}, "\n", 1},
		{[]string{"cleanup", "--dry-run"}, "\n", n / 100},
		{[]string{"cleanup", "--force"}, "✓ Deleted " + count(n/100, "session"), 1},
		{[]string{"list", "-n", "0", "-a"}, "\n", n - n/100},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		args := append(tt.args, "--sessions-root="+root, "--project=p")
		begin := time.Now()
		code, stderr := run(t, &out, args...)
		t.Logf("%6.0f ms for %d sessions: sessions %s", time.Since(begin).Seconds()*1000, n, strings.Join(tt.args, " "))
		require.Equal(t, exitOK, code, stderr)
		require.Equal(t, tt.want, strings.Count(out.String(), tt.counts), tt.args)
	}
}
