package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
)

func TestSeenUpdate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	before := stateAt(path)
	require.NoError(t, os.WriteFile(path, []byte("longer"), 0o600))
	after := stateAt(path)

	type look struct {
		state   state
		settled bool
		want    bool
	}
	tests := []struct {
		name  string
		looks []look
	}{
		{"appears, changes, vanishes", []look{{before, true, true}, {before, true, false}, {after, true, true}, {state{}, true, true}}},
		{"once more when the clock has moved on", []look{{before, false, true}, {before, false, false}, {before, true, true}, {before, true, false}}},
		{"changes before the clock moves on", []look{{before, false, true}, {after, false, true}, {after, true, true}, {after, true, false}}},
		{"still not there", []look{{state{}, true, false}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s seen
			for i, l := range tt.looks {
				require.Equal(t, l.want, s.update(l.state, l.settled), "look %d", i)
			}
		})
	}
}

// TestLookCost counts the files that are looked at: those which are there, as
// long as the directory does not change.
func TestLookCost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(names ...string) {
		for _, name := range names {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
		}
	}
	clock := time.Now()
	step := func() { // of the file system's clock, which may be slower than this test
		clock = clock.Add(time.Second)
		require.NoError(t, os.Chtimes(dir, clock, clock))
	}
	put("transcript.jsonl", "metadata.json", "events.jsonl", "transcript.jsonl.backup", "other.txt")
	var looked []string
	stat := func(path string) seen {
		looked = append(looked, strings.TrimPrefix(path, dir+sep))
		return seen{stateAt(path), true}
	}
	var s session
	look := func() []Change {
		looked = nil
		return s.compare("a", dir, seen{stateAt(dir), true}, dueFiles, stat)
	}
	settle := func() { // what a directory is given the time for
		for range firstLooks {
			require.Empty(t, look())
			require.Len(t, looked, len(Files)+1)
		}
	}

	require.Len(t, look(), 3)
	require.Len(t, looked, len(Files)+1, "all files and the marker")
	settle()
	require.Empty(t, look())
	require.Equal(t, []string{"transcript.jsonl", "metadata.json", "events.jsonl"}, looked)

	put("phase_outputs.jsonl", sessiondir.Marker)
	step()
	require.Equal(t, []Change{{ID: "a", File: "phase_outputs.jsonl"}, {ID: "a", File: "transcript.jsonl"}}, look())
	settle()
	require.Empty(t, look())
	require.Len(t, looked, 4)

	require.NoError(t, os.Remove(filepath.Join(dir, sessiondir.Marker)))
	require.NoError(t, os.Remove(filepath.Join(dir, "metadata.json")))
	step()
	require.Equal(t, []Change{{ID: "a", File: "metadata.json", Op: Removed}, {ID: "a", File: "transcript.jsonl"}}, look())
}

// TestFileShowsLate has a directory change a while before its new file can be seen.
func TestFileShowsLate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	there, dir := seen{stateAt(path), true}, seen{stateAt(filepath.Dir(path)), true}
	for _, marker := range []bool{false, true} {
		for _, files := range []scope{dueFiles, allFiles} {
			for early := range 3 * rareLook {
				var s session
				shown := false
				stat := func(path string) seen {
					if shown && (filepath.Base(path) == sessiondir.Marker) == marker && (marker || filepath.Base(path) == sessiondir.Config) {
						return there
					}
					return seen{settled: true}
				}
				for range 1 + early {
					require.Empty(t, s.compare("a", "a", dir, dueFiles, stat))
				}
				shown = true
				var found []Change
				for looks := 0; len(found) == 0; looks++ {
					require.Less(t, looks, rareLook)
					require.False(t, files == allFiles && looks > 0, "an event tells of the session")
					found = s.compare("a", "a", dir, files, stat)
				}
				require.Equal(t, []Change{{ID: "a", File: map[bool]string{false: sessiondir.Config, true: sessiondir.Transcript}[marker]}}, found)
			}
		}
	}
}
