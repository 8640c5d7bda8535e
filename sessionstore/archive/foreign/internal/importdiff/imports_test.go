// Package importdiff compares the importers of this tree with those of an earlier revision:
// it makes up homes of Claude Code and of Codex, lets both import them, and requires the
// same files and the same reports. The importers have no other test for the files that
// nobody thought of.
//
// A revision that changes what an import makes fails it, until that change is the base.
package importdiff

import (
	"archive/tar"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var (
	base  = flag.String("base", os.Getenv("TEST_BASE"), "the revision to compare with; the one before, unless TEST_BASE names one")
	out   = flag.String("out", "", "a new folder that keeps the outcomes")
	seeds = flag.Int("seeds", 60, "the number of homes of each tool")
)

const (
	module = "sessionstore/archive/foreign" // from the top of the repository
	here   = "internal/importdiff"
	counts = "internal/counts"
	top    = "../../../../.."
	driven = "IMPORTDIFF" // the first seed, the number of seeds, the folder of the outcomes, and the program that counts
)

// TestMain drives the imports alone where a test of another revision asks for them.
func TestMain(m *testing.M) {
	if order := os.Getenv(driven); order != "" {
		first, n, out, program := uint64(0), 0, "", ""
		_, err := fmt.Sscanf(order, "%d %d %q %q", &first, &n, &out, &program)
		if err == nil {
			err = drive(first, n, out, program)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	if order := os.Getenv(earlier); order != "" {
		first, n, dir := uint64(0), 0, ""
		_, err := fmt.Sscanf(order, "%d %d %q", &first, &n, &dir)
		if err == nil {
			err = driveEarlier(first, n, dir)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	testenv.Main(m, nil)
}

// TestImports requires the outcomes of the base.
func TestImports(t *testing.T) {
	testenv.Soak(t, "it builds another revision")
	_, err := exec.LookPath("git")
	testenv.Need(t, err == nil, "git is not there")
	first := testenv.Seed(t)
	revision := *base
	if revision == "" {
		revision = "HEAD~1"
	}
	said, err := git("rev-parse", "--short", "--verify", revision+"^{commit}").Output()
	testenv.Need(t, err == nil, "the repository has no revision "+revision)
	revision = strings.TrimSpace(string(said))

	dir := t.TempDir()
	if *out != "" {
		dir = *out
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	before, now := filepath.Join(dir, "before"), filepath.Join(dir, "now")
	program, counted := build(t, dir, revision)
	counting := ""
	if counted != "" { // else the revision has no such program
		counting = buildCounts(t, "../..", filepath.Join(dir, "counts"))
	}
	other := exec.Command(program)
	other.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %q %q", driven, first, *seeds, before, counted))
	child := testenv.Start(t, other)
	require.NoError(t, drive(first, *seeds, now, counting))
	child.End(t)

	names, err := os.ReadDir(now)
	require.NoError(t, err)
	different, reports := 0, 0
	for _, name := range names {
		a, b := read(t, before, name.Name()), read(t, now, name.Name())
		if reports += strings.Count(b, "\nreport "); a != b {
			if different++; different < 4 {
				t.Errorf("%s is not as with %s: %s", strings.TrimSuffix(name.Name(), ".txt"), revision, firstDifference(a, b))
			}
		}
	}
	require.Zero(t, different, "of %d homes", len(names))
	require.Greater(t, reports, *seeds)
	fmt.Printf("imports: %d homes with %d imports as with %s\n", len(names), reports, revision)
}

func git(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stderr = top, os.Stderr
	return cmd
}

// build builds the tests of this package with the importers of a revision, and its program
// that counts, "" where it has none.
func build(t *testing.T, dir, revision string) (program, counted string) {
	t.Helper()
	tree := filepath.Join(dir, "tree")
	archive := git("archive", "--format=tar", revision, "--", ":(exclude)*testdata*")
	out, err := archive.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, archive.Start())
	require.NoError(t, unpack(out, tree))
	require.NoError(t, archive.Wait())
	tree = filepath.Join(tree, module)
	require.NoError(t, os.RemoveAll(filepath.Join(tree, here)))
	require.NoError(t, os.CopyFS(filepath.Join(tree, here), os.DirFS(".")))
	program = filepath.Join(dir, "base.test")
	cmd := exec.Command("go", "test", "-c", "-o", program, "./"+here)
	cmd.Dir = tree
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	if _, err := os.Stat(filepath.Join(tree, counts)); err == nil {
		counted = buildCounts(t, tree, filepath.Join(dir, "base.counts"))
	}
	return program, counted
}

// buildCounts builds the program that counts of a tree.
func buildCounts(t *testing.T, tree, program string) string {
	t.Helper()
	cmd := exec.Command("go", "build", "-o", program, "./"+counts)
	cmd.Dir = tree
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return program
}

// unpack writes the files of an archive below a folder.
func unpack(r io.Reader, dir string) error {
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		data, err := io.ReadAll(in)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, h.Name), data); err != nil {
			return err
		}
	}
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(data)
}

// firstDifference returns the first line in which two outcomes differ, and the import and
// the file that it is of.
func firstDifference(a, b string) string {
	was, is := strings.Split(a, "\n"), strings.Split(b, "\n")
	of := ""
	for i := range min(len(was), len(is)) {
		if strings.HasPrefix(is[i], "== ") || strings.HasPrefix(is[i], "-- ") || strings.HasPrefix(is[i], "export ") {
			of = is[i]
		}
		if was[i] != is[i] {
			return "in " + strconv.Quote(of) + "\n- " + was[i] + "\n+ " + is[i]
		}
	}
	return fmt.Sprintf("%d and %d lines", len(was), len(is))
}
