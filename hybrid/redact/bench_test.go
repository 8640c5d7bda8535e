package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSecrets goes over a message of prose, over what tools print, and
// over the same as JSON in JSON.
func BenchmarkSecrets(b *testing.B) {
	r := clean{rand.New(rand.NewPCG(8, 9))}
	var output strings.Builder
	for output.Len() < 900<<10 {
		output.WriteString(r.line() + "\n")
	}
	row := func(text string) string {
		quoted, err := json.Marshal(text)
		require.NoError(b, err)
		return `{"role": "tool", "content": ` + string(quoted) + `}`
	}
	for _, text := range []struct{ name, line string }{
		{"prose", row(strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 20000))},
		{"output", row(output.String())},
		{"nested", row(row(output.String()))},
		{"short", row("All tests pass now; the key of the map was wrong.")},
	} {
		b.Run(text.name, func(b *testing.B) {
			s, line := Secrets(), []byte(text.line)
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				s.Line(line)
			}
		})
	}
}
