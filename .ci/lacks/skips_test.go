package lacks

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// systemsDir has the files that say which tests run on which system.
const systemsDir = "../systems"

// skipped is a line of such a file.
type skipped struct {
	place, pattern, why string
}

// entries returns the lines of a file.
func entries(t *testing.T, name string) (all []skipped) {
	t.Helper()
	f, err := os.Open(filepath.Join(systemsDir, name))
	require.NoError(t, err)
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		place, rest, _ := strings.Cut(line, " ")
		pattern, why, _ := strings.Cut(rest, " ")
		all = append(all, skipped{place, pattern, why})
	}
	require.NoError(t, in.Err())
	return all
}

// TestSkipsHaveReasons requires that each test which other systems skip has a
// reason, and that what an emulator lacks is shown by a program of this package.
func TestSkipsHaveReasons(t *testing.T) {
	used := map[string]bool{}
	for _, emulator := range []string{"qemu", "wine"} {
		for _, s := range entries(t, emulator+".skip") {
			kind, text, explained := strings.Cut(s.why, ": ")
			if explained {
				require.Equal(t, "windows", kind, "%s.skip: %s %s", emulator, s.place, s.pattern)
				require.NotEmpty(t, text, "%s.skip: %s %s", emulator, s.place, s.pattern)
				continue
			}
			l, known := lacks[s.why]
			require.True(t, known && slices.Contains(l.emulators, emulator), "%s.skip: %s %s: no program shows the lack %q", emulator, s.place, s.pattern, s.why)
			used[s.why] = true
		}
	}
	for name := range lacks {
		require.True(t, used[name], "no test is skipped for the lack %q", name)
	}
	for _, s := range entries(t, "simulated.skip") {
		require.NotEmpty(t, s.why, "simulated.skip: %s %s", s.place, s.pattern)
	}
}

// TestSkipsNameTests requires that each name in these files is that of a test.
func TestSkipsNameTests(t *testing.T) {
	packages := []string{}
	for _, s := range entries(t, "packages") {
		packages = append(packages, s.place)
	}
	for _, name := range []string{"qemu.skip", "wine.skip", "simulated.skip", "arm.only", "windows.only"} {
		for _, s := range entries(t, name) {
			places := []string{s.place}
			if s.place == "*" {
				places = packages
			}
			tests := testsIn(t, places)
			for _, one := range alternatives(s.pattern) {
				assert.True(t, slices.ContainsFunc(tests, regexp.MustCompile(one).MatchString), "%s: %s has no test %s", name, s.place, one)
			}
		}
	}
}

var declared = regexp.MustCompile(`(?m)^func (Test\w*)\(`)

// testsIn returns the tests of packages.
func testsIn(t *testing.T, packages []string) (tests []string) {
	t.Helper()
	for _, p := range packages {
		files, err := filepath.Glob(filepath.Join("../..", p, "*_test.go"))
		require.NoError(t, err)
		require.NotEmpty(t, files, "no package %s", p)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, found := range declared.FindAllSubmatch(text, -1) {
				tests = append(tests, string(found[1]))
			}
		}
	}
	return tests
}

// alternatives returns the patterns that ^Test(one|another)$ joins, of which
// each may have alternatives of its own.
func alternatives(pattern string) (all []string) {
	inner, joined := strings.CutPrefix(strings.TrimSuffix(pattern, ")$"), "^Test(")
	if !joined {
		return []string{pattern}
	}
	depth, from := 0, 0
	for i, r := range inner {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == '|' && depth == 0:
			all = append(all, "^Test("+inner[from:i]+")$")
			from = i + 1
		}
	}
	return append(all, "^Test("+inner[from:]+")$")
}
