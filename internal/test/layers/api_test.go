package layers

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/api.txt")

// TestPublicFace holds what the public packages show. No exported identifier
// mentions a type of an internal package, which nobody else can name. And every
// change shows in testdata/api.txt, so that it is seen where changes are read:
// go test ./internal/test/layers -run PublicFace -update writes that list.
func TestPublicFace(t *testing.T) {
	t.Parallel()
	var lines, internal []string
	mods, err := modules(root)
	require.NoError(t, err)
	for _, mod := range mods {
		shown, err := faces(filepath.Join(root, mod))
		require.NoError(t, err)
		for _, name := range slices.Sorted(maps.Keys(shown)) {
			if mod == "." || within(name, mod) { // a nested module lists what it imports too
				lines = append(lines, shown[name].lines...)
				internal = append(internal, shown[name].internal...)
			}
		}
	}
	got := strings.Join(lines, "\n") + "\n"
	golden := filepath.Join("testdata", "api.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Empty(t, changedLines(string(want), got), "the public packages show something else than testdata/api.txt: see whether that is meant, then run with -update")
	require.Empty(t, internal, strings.Join(internal, "\n"))
}

// changedLines returns the lines that went, behind a minus, and those that came,
// behind a plus.
func changedLines(old, now string) (changed []string) {
	before, after := strings.Split(old, "\n"), strings.Split(now, "\n")
	for _, line := range before {
		if !slices.Contains(after, line) {
			changed = append(changed, "-"+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			changed = append(changed, "+"+line)
		}
	}
	return changed
}
