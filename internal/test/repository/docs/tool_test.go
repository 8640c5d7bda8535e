package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestToolsCommandsAreTold compares the commands that the tool's help lists
// with those of the page.
func TestToolsCommandsAreTold(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	help := shell(t, top, "go run -C examples/sessions . --help", surroundings(t, "")...)
	_, listed, found := strings.Cut(help, "Commands:")
	require.True(t, found)
	var commands []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+) {2,}\S`).FindAllStringSubmatch(listed, -1) {
		commands = append(commands, m[1])
	}
	require.NotEmpty(t, commands)

	_, table, found := strings.Cut(text(t, "examples/README.md"), "| commands | |\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(table, -1) {
		told = append(told, m[1])
	}
	require.ElementsMatch(t, commands, told)
}
