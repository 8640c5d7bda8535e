package docs

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramsCompile checks each program of the pages as the compiler does, and
// builds and runs them in a module that has what the examples have. Those that need an
// account have none: there is no network.
func TestProgramsCompile(t *testing.T) {
	t.Parallel()
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	for _, p := range pages(t) {
		for i, b := range p.blocks("go") {
			if b.kind == "part" { // of an example
				continue
			}
			t.Run(fmt.Sprint(p.path, " ", i+1), func(t *testing.T) {
				t.Parallel()
				formatted, err := format.Source([]byte(b.code))
				require.NoError(t, err)
				require.Equal(t, string(formatted), b.code)
				dir := programModule(t, top)
				require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(b.code), 0o600))
				env := surroundings(t, "")
				shell(t, dir, "go vet .", env...)
				if !strings.Contains(b.code, "COSMOS_ENDPOINT") {
					require.Equal(t, "user: Will it rain tomorrow?\n", shell(t, dir, "go run .", env...))
					return
				}
				// Where nothing listens, the program with an account ends well, and its turn is on the disk.
				env = append(env, "COSMOS_ENDPOINT=http://127.0.0.1:1/", "COSMOS_KEY=AA==")
				shell(t, dir, `go run . && test -s "$HOME"/.amplifier/projects/*/sessions/forecast/transcript.jsonl`, env...)
			})
		}
	}
}

// programModule makes a module that requires what examples/cloudsync does.
func programModule(t *testing.T, top string) string {
	t.Helper()
	dir := t.TempDir()
	from := filepath.Join(top, "examples", "cloudsync")
	raw, err := os.ReadFile(filepath.Join(from, "go.mod"))
	require.NoError(t, err)
	module := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(string(raw), "module example.com/program")
	module = strings.Replace(module, "=> ../..", "=> "+strconv.Quote(top), 1)
	require.Contains(t, module, "=> "+strconv.Quote(top))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600))
	sums, err := os.ReadFile(filepath.Join(from, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	return dir
}
