package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// root leads from the folder of this package to the top of the repository.
const root = "../../../.."

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m, nil)
}

// page is one page of the documentation.
type page struct {
	path string // from the top
	text string
}

// pages returns the pages whose programs and commands are run.
func pages(t *testing.T) (all []page) {
	for _, path := range []string{"README.md", "sessionstore/README.md", "hybrid/README.md", "testdata/README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md", "examples/bench/README.md", "examples/bridges/README.md", "sessionstore/bridge/acp/README.md", "testdata/golden/README.md", "testdata/golden-new/README.md"} {
		raw, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		all = append(all, page{path, string(raw)})
	}
	return all
}

// text returns the text of a page.
func text(t *testing.T, path string) string {
	t.Helper()
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.path == path })
	require.GreaterOrEqual(t, i, 0, path)
	return all[i].text
}

// The first page is for somebody who has three minutes: it names no test.
func TestFirstPageIsShort(t *testing.T) {
	t.Parallel()
	first := text(t, "README.md")
	require.Less(t, len(first), 9<<10)
	require.NotRegexp(t, `\bTest[A-Z]`, first)
}

// block is a block of code of a page.
type block struct {
	language, kind string
	code           string
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\w+))?\n(.*?)^```$")

func (p page) blocks(language string) (found []block) {
	for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
		if m[1] == language {
			found = append(found, block{m[1], m[2], m[3]})
		}
	}
	return found
}

// TestBlocksAreKnown finds blocks that no test looks at.
func TestBlocksAreKnown(t *testing.T) {
	t.Parallel()
	known := map[string]bool{
		"go": true, "go part": true, "text": true, "python": true,
		"sh": true, "sh slow": true, "sh get": true, "sh azure": true, "sh cloud": true, "sh serve": true,
	}
	for _, p := range pages(t) {
		require.Zero(t, strings.Count(p.text, "```")%2, p.path)
		for _, m := range fence.FindAllStringSubmatch(p.text, -1) {
			require.True(t, known[strings.TrimSpace(m[1]+" "+m[2])], "%s: block %q", p.path, m[1]+" "+m[2])
		}
		require.Len(t, fence.FindAllString(p.text, -1), strings.Count(p.text, "```")/2, p.path)
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks follows the links inside of the repository.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			if target != "" {
				_, err := os.Stat(filepath.Join(root, filepath.Dir(p.path), target))
				require.NoError(t, err, "%s: link %s", p.path, m[1])
			}
			if anchor == "" || target != "" && !strings.HasSuffix(target, ".md") {
				continue
			}
			text := p.text
			if target != "" {
				raw, err := os.ReadFile(filepath.Join(root, filepath.Dir(p.path), target))
				require.NoError(t, err, "%s: link %s", p.path, m[1])
				text = string(raw)
			}
			require.True(t, anchors(text)[anchor], "%s: link %s", p.path, m[1])
		}
	}
}

var heading = regexp.MustCompile(`(?m)^#+ (.*)$`)

// anchors returns the names under which the headings of a page are linked.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := strings.ToLower(m[1])
		name = regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(name, "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}
