package importdiff

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

const earlier = "IMPORTDIFF_EARLIER" // the first seed, the number of seeds, and the folder of the stores

// TestEarlierImports imports homes with the base, and then with this tree: nothing changes. Once the
// tool went on, the messages that the base made are as the base has them then.
func TestEarlierImports(t *testing.T) {
	testenv.Soak(t, "it builds another revision")
	_, err := exec.LookPath("git")
	testenv.Need(t, err == nil, "git is not there")
	revision := *base
	if revision == "" {
		revision = "HEAD~1"
	}
	said, err := git("rev-parse", "--short", "--verify", revision+"^{commit}").Output()
	testenv.Need(t, err == nil, "the repository has no revision "+revision)
	first, dir := testenv.Seed(t), t.TempDir()
	program, _ := build(t, dir, strings.TrimSpace(string(said)))
	other := exec.Command(program)
	other.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %q", earlier, first, *seeds, dir))
	said, err = other.CombinedOutput()
	require.NoError(t, err, "%s", said)
	kept, changed := 0, 0
	for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
		for i := range *seeds {
			d := newEarlier(tool, first+uint64(i), dir)
			require.NoError(t, os.CopyFS(d.store(), os.DirFS(d.dir+"/before")))
			was := transcripts(t, d.dir+"/before")
			require.NoError(t, d.begin(0))
			d.noteless(t)
			for of, rows := range transcripts(t, d.store()) {
				require.Equal(t, string(was[of]), string(rows), "%s %d: %s", tool, d.seed, of)
			}
			require.NoError(t, d.begin(1))
			theirs, ours := transcripts(t, d.dir+"/grown"), transcripts(t, d.store())
			require.Len(t, ours, len(theirs), "%s %d", tool, d.seed)
			for of, rows := range was {
				n := bytes.Count(rows, []byte("\n"))
				require.Equal(t, lines(theirs[of], n), lines(ours[of], n), "%s %d: %s", tool, d.seed, of)
				if kept += n; !bytes.Equal(theirs[of], ours[of]) {
					changed++
				}
			}
			require.NoError(t, os.RemoveAll(d.dir))
		}
	}
	require.Positive(t, kept)
	fmt.Printf("imports: %d messages of the base stay, and %d sessions went on by other rules\n", kept, changed)
}

// newEarlier returns the driver of a home, whose stores are below dir.
func newEarlier(tool foreign.Tool, seed uint64, dir string) *driver {
	return &driver{tool: tool, seed: seed, dir: filepath.Join(dir, fmt.Sprint(tool, seed)), r: rand.New(rand.NewPCG(seed, 3)), home: newHome(tool, seed)}
}

// begin lets the tool of a home work, and imports it: for the nth time.
func (d *driver) begin(n int) (err error) {
	if d.p, err = projects.Open(d.store(), &sessionstore.Options{Durability: sessionstore.Relaxed, Now: now}); err != nil {
		return err
	}
	for range 2 + 3*n + d.r.IntN(4) {
		d.home.change()
	}
	if err := os.RemoveAll(d.tools()); err != nil {
		return err
	}
	if err := d.home.save(d.tools()); err != nil {
		return err
	}
	all, err := foreign.Find(context.Background(), d.tool, &foreign.FindOptions{Home: d.tools()})
	if err != nil {
		d.note("find: %v", err)
	}
	for _, h := range all {
		d.bring(context.Background(), h, &foreign.Options{})
	}
	return d.p.Close()
}

// noteless requires that the imports made or changed no session.
func (d *driver) noteless(t *testing.T) {
	t.Helper()
	for _, action := range []foreign.Action{foreign.Created, foreign.Updated} {
		require.NotContains(t, d.said.String(), fmt.Sprint("Action:", action), "%s %d", d.tool, d.seed)
	}
}

// driveEarlier imports homes twice with the base, and keeps the store of each time.
func driveEarlier(first uint64, n int, dir string) error {
	for _, tool := range []foreign.Tool{foreign.Claude, foreign.Codex} {
		for i := range n {
			d := newEarlier(tool, first+uint64(i), dir)
			for i, name := range []string{"before", "grown"} {
				if err := d.begin(i); err != nil {
					return err
				}
				if err := os.CopyFS(filepath.Join(d.dir, name), os.DirFS(d.store())); err != nil {
					return err
				}
			}
			if err := os.RemoveAll(d.store()); err != nil {
				return err
			}
		}
	}
	return nil
}

// transcripts returns the transcripts below a folder.
func transcripts(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*", "sessions", "*", "transcript.jsonl"))
	require.NoError(t, err)
	all := map[string][]byte{}
	for _, path := range found {
		of, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		all[of], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	return all
}

// lines returns the first n lines of a text.
func lines(text []byte, n int) string {
	all := bytes.SplitAfter(text, []byte("\n"))
	return string(bytes.Join(all[:min(n, len(all))], nil))
}
