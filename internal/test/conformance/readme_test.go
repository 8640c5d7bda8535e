package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmesDescribeTheVectors holds the pages that tell others how to use the
// vectors: each file has its row, which names every member of its cases, and
// the number of cases is the one that is told.
func TestReadmesDescribeTheVectors(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"golden", "golden-new"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join("../../../testdata", dir)
			raw, err := os.ReadFile(filepath.Join(root, "README.md"))
			require.NoError(t, err)
			page := string(raw)
			about, _, found := strings.Cut(page, "\n## Files")
			require.True(t, found)
			everywhere := named(about)
			for name := range named("`name` `error` `note`") {
				everywhere[name] = true
			}
			rows := map[string]string{}
			for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+\\.json)` \\|(.*)$").FindAllStringSubmatch(page, -1) {
				require.NotContains(t, rows, m[1])
				rows[m[1]] = m[2]
			}
			total := 0
			for _, path := range vectors(t, root) {
				name := filepath.Base(path)
				require.Contains(t, rows, name, "it has no row in README.md")
				told := named(rows[name])
				delete(rows, name)
				cases := casesOf(t, path)
				total += len(cases)
				for _, c := range cases {
					for member := range c {
						require.True(t, told[member] || everywhere[member], "%s: member %s is not described", name, member)
					}
				}
			}
			require.Empty(t, rows, "rows without a file")
			count := fmt.Sprint(total)
			if total > 999 {
				count = fmt.Sprintf("%d,%03d", total/1000, total%1000)
			}
			require.Contains(t, page, count+" cases")
		})
	}
}

// named returns what stands in backticks.
func named(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return names
}

// vectors returns the paths of the files of cases.
func vectors(t *testing.T, root string) (paths []string) {
	all, err := filepath.Glob(filepath.Join(root, "*.json"))
	require.NoError(t, err)
	for _, path := range all {
		if filepath.Base(path) != "deviations.json" {
			paths = append(paths, path)
		}
	}
	require.NotEmpty(t, paths)
	return paths
}

func casesOf(t *testing.T, path string) (cases []map[string]json.RawMessage) {
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &cases), path)
	return cases
}

// TestReadmeProgramRuns runs the program of the page, which is in another
// language than the rest.
func TestReadmeProgramRuns(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../testdata/golden/README.md")
	require.NoError(t, err)
	m := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, m)
	cmd := exec.CommandContext(t.Context(), "python3", "-c", string(m[1]))
	cmd.Dir = "../../../testdata/golden"
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "project_slug.json agrees\n", string(out))
}
