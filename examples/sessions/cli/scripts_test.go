package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// leaves returns the commands that have none below them, as "trash list", and of
// each the words that call it: the last one may be left out of a default.
func leaves(n *kong.Node) map[string][]string {
	all := map[string][]string{}
	for _, child := range n.Children {
		if len(child.Children) > 0 {
			for name, calls := range leaves(child) {
				all[name] = calls
			}
			continue
		}
		name := commandName(child)
		all[name] = []string{name}
		if n.DefaultCmd == child && n.Type == kong.CommandNode {
			all[name] = append(all[name], commandName(n))
		}
	}
	return all
}

// documents are the commands whose answers have a form of their own.
var documents = []string{"help", "completion", "complete", "mcp"}

// TestEveryCommandHasAScript has every command run by a script, and its answer
// of --json compared with the schema there.
func TestEveryCommandHasAScript(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, Process{Stdout: io.Discard, Stderr: io.Discard})
	require.NoError(t, err)
	files, err := filepath.Glob("../testdata/script/*.txtar")
	require.NoError(t, err)
	var scripts strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		commands, _, _ := strings.Cut(string(text), "\n-- ")
		scripts.WriteString(commands + "\n")
	}
	all := leaves(parser.Model.Node)
	require.Greater(t, len(all), 30)
	for name, calls := range all {
		if name == "pick" { // it is called without a name
			require.Regexp(t, `(?m)sessions --json$`, scripts.String())
			continue
		}
		called := false
		for _, words := range calls {
			called = called || regexp.MustCompile(`(?m)\b(exec|exits \d+|term \d+) sessions `+regexp.QuoteMeta(words)+`( |$)`).MatchString(scripts.String())
		}
		require.True(t, called, "no script has %q", name)
		if !slices.Contains(documents, name) {
			require.Regexp(t, `(?m)^valid (result|lines) `+regexp.QuoteMeta(name)+`$`, scripts.String())
		}
	}
}

// TestFormerNames has each former name answered by one line, whatever follows it.
func TestFormerNames(t *testing.T) {
	t.Parallel()
	for name, use := range formerNames {
		for _, more := range []string{"", "x", "x y", "--help", "x --json", "--nope=1 x -z"} {
			var out bytes.Buffer
			args := append(strings.Fields(name), strings.Fields(more)...)
			if strings.HasPrefix(name, "-") {
				args = append([]string{"list"}, args...)
			}
			code, said := run(t, &out, args...)
			require.Equal(t, exitUsage, code, args)
			require.Contains(t, said, "this is now "+use)
			require.Equal(t, 1, strings.Count(said, "\n"), said)
			if !strings.HasPrefix(name, "-") {
				require.True(t, strings.HasPrefix(said, "sessions "+name+": "), said)
			}
			if strings.Contains(more, "--json") {
				require.Contains(t, out.String(), `"error": "this is now `)
			}
		}
	}
	_, said := run(t, io.Discard, "help", "trash", "restore")
	require.Equal(t, "sessions trash restore: this is now "+formerNames["trash restore"]+"\n", said)
	_, said = run(t, io.Discard, "list", "--nope=1", "--", "--json=v1")
	require.NotContains(t, said, "this is now")
}
