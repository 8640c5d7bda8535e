package sessiondir

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSweep removes what killed writers of this library left, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	left := []string{
		".transcript.jsonl123", "..transcript.jsonl123456", ".metadata.json1", "..metadata.json.backup12", "..draft.jsonl7", ".transcript.jsonl.backup9",
		".transcript.jsonl.bak-pre-rewind-2026112214200077", ".config.md5",
	}
	stays := map[string]string{
		Transcript: "", Backup(Transcript): "", "transcript.jsonl.damaged-20260102T020405Z": "", ".transcript.jsonl": "", "..transcript.jsonl": "",
		"...transcript.jsonl1": "", ".notes1": "", ".transcript_abcdefgh.tmp": "", // which is not a day old
	}
	d, path := openSession(t, nil)
	for _, name := range left {
		put(t, "", path, name)
	}
	for name := range stays {
		put(t, "", path, name)
	}
	d.Sweep()
	require.Equal(t, stays, content(t, path))
}
