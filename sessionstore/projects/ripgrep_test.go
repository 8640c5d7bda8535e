package projects_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// TestBesideRipgrep tells how long searches take beside ripgrep, which reads the same files: the
// medians of rounds in which both take turns. SEARCH_CORPUS names a directory of projects to
// search; without it, the test makes one. With SEARCH_COLD the kernel forgets all files before
// each search, which only root may order.
func TestBesideRipgrep(t *testing.T) { //nolint:paralleltest // it measures
	testenv.Soak(t, "it measures searches of large files")
	rg, err := exec.LookPath("rg")
	testenv.Need(t, err == nil, "ripgrep is not installed")
	dir := os.Getenv("SEARCH_CORPUS")
	if dir == "" {
		dir = madeCorpus(t)
	}
	p, size := openProjects(t, dir), int64(0)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == transcriptFile {
			fi, err := e.Info()
			require.NoError(t, err)
			size += fi.Size()
		}
		return err
	}))
	search := func(word string, limit int) func(ctx context.Context) int {
		return func(ctx context.Context) int {
			hits, failed := searched(ctx, p, sessionstore.Sought{Text: word, Each: 1}, projects.Query{Limit: limit})
			require.Empty(t, failed)
			return len(hits)
		}
	}
	file := func(path string) func(ctx context.Context) int {
		return func(ctx context.Context) (n int) {
			for _, err := range p.Files(ctx, path, projects.Query{}) {
				require.NoError(t, err)
				n++
			}
			return n
		}
	}
	for _, tt := range []struct {
		what, word string
		ours       func(context.Context) int
	}{
		{"a rare word", "qwertzuiop", search("qwertzuiop", 0)},
		{"a common word", "delegate", search("delegate", 0)},
		{"a common word, 20 sessions", "delegate", search("delegate", 20)},
		{"a path", "/work/src/pkg_7/main.go", file("/work/src/pkg_7/main.go")},
		{"a path that is nowhere", "/work/other_dir/main.go", file("/work/other_dir/main.go")},
	} {
		t.Run(tt.what, func(t *testing.T) { //nolint:paralleltest // it measures
			var ours, theirs [5]time.Duration
			found := 0
			for i := range ours {
				ours[i] = timed(t, func() { found = tt.ours(t.Context()) })
				theirs[i] = timed(t, func() {
					_ = exec.CommandContext(t.Context(), rg, "-l", "-i", "-F", "-g", transcriptFile, tt.word, dir).Run() // it fails where nothing is found
				})
			}
			slices.Sort(ours[:])
			slices.Sort(theirs[:])
			mine, rgs := ours[len(ours)/2], theirs[len(theirs)/2]
			t.Logf("%s in %d MB: %d found, %v; ripgrep lists the files in %v: %.2f", tt.what, size>>20, found, mine.Round(time.Millisecond), rgs.Round(time.Millisecond), mine.Seconds()/rgs.Seconds())
		})
	}
}

// timed returns how long do takes.
func timed(t *testing.T, do func()) time.Duration {
	if os.Getenv("SEARCH_COLD") != "" {
		require.NoError(t, os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0))
	}
	start := time.Now()
	do()
	return time.Since(start)
}

// madeCorpus makes 64 MB of sessions.
func madeCorpus(t *testing.T) string {
	rnd := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	dir := t.TempDir()
	for session := range 500 {
		var text []byte
		for len(text) < 128<<10 {
			text = fmt.Appendf(text, `{"role": "user", "content": "the store writes %d and %d, as session %d does"}`+"\n", rnd.Int(), rnd.Int(), session)
			text = fmt.Appendf(text, `{"role": "assistant", "content": "delegate %d", "tool_calls": [{"id": "1", "tool": "read", "arguments": {"path": "/work/src/pkg_%d/main.go"}}]}`+"\n", rnd.Int(), rnd.IntN(1000))
		}
		write(t, "{}", dir, "p", "sessions", fmt.Sprint(session), metadataFile)
		write(t, string(text), dir, "p", "sessions", fmt.Sprint(session), transcriptFile)
	}
	return dir
}
