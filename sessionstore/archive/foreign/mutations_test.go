package foreign

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

var word = regexp.MustCompile(`"[A-Za-z_-]+"`)

// mutated returns lines with some of them repeated, moved, dropped, cut, or with
// words of others in the place of kinds and names of members.
func mutated(rng *rand.Rand, lines, words []string) string {
	lines = append([]string{}, lines...)
	for range 1 + rng.IntN(6) {
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		switch rng.IntN(7) {
		case 0:
			lines = append(lines, lines[i])
		case 1:
			lines[i], lines[j] = lines[j], lines[i]
		case 2:
			lines[i] = ""
		case 3:
			lines[i] = lines[i][:rng.IntN(len(lines[i])+1)]
		default:
			found := word.FindAllStringIndex(lines[i], -1)
			if len(found) == 0 {
				continue
			}
			at := found[rng.IntN(len(found))]
			lines[i] = lines[i][:at[0]] + words[rng.IntN(len(words))] + lines[i][at[1]:]
		}
	}
	return strings.Join(lines, "\n")
}

var mutations = flag.Int("mutations", 0, "how many histories TestMutations imports, as 5000; 0: 300 with TEST_LONG set, else fewer")

// TestMutations imports histories that are much like those that the tools write.
func TestMutations(t *testing.T) {
	t.Parallel()
	var files [][]string
	var tools []Tool
	words := map[Tool][]string{}
	for _, h := range corpus(t) {
		data := original(t, h.Path)
		files, tools = append(files, strings.Split(strings.TrimSpace(data), "\n")), append(tools, h.Tool)
		words[h.Tool] = append(words[h.Tool], word.FindAllString(data, -1)...)
	}
	rng := rand.New(rand.NewPCG(testenv.Seed(t), 1))
	for range cmp.Or(*mutations, testenv.Share(20, 60, 300)) {
		i := rng.IntN(len(files))
		data := mutated(rng, files[i], words[tools[i]])
		ok := t.Run("", func(t *testing.T) { fuzzImport(t, tools[i], data) })
		if !ok {
			path := filepath.Join(os.TempDir(), fmt.Sprint("mutation-", tools[i], ".jsonl"))
			require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
			t.Fatal("see " + path)
		}
	}
}
