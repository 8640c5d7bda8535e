package redact

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

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// wrappers put a text into a line in the ways in which logs do.
func wrappers() map[string]func(string) string {
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	message := func(s string) string {
		return `{"role": "tool", "content": ` + quote("found it:\n"+s+"\nand more") + `}`
	}
	return map[string]func(string) string{
		"plain":       func(s string) string { return strings.ReplaceAll(s, "\n", `\n`) },
		"in a string": message,
		"twice": func(s string) string {
			return message(message(s))
		},
		"escaped": func(s string) string {
			var b strings.Builder
			for i, c := range []byte(s) {
				if i%3 == 0 || c == '\n' {
					fmt.Fprintf(&b, `\u%04X`, c)
				} else {
					b.WriteByte(c)
				}
			}
			return `{"content": "x ` + b.String() + ` y"}`
		},
		"slashes": func(s string) string { return strings.ReplaceAll(message(s), "/", `\/`) },
	}
}

// longRun is the longest run of a secret that no placeholder could hold.
var longRun = regexp.MustCompile(`[A-Za-z0-9]{12,}`)

func TestSecretsAreFound(t *testing.T) {
	t.Parallel()
	s := Secrets()
	secrets := plant()
	require.GreaterOrEqual(t, len(secrets), 20)
	for name, secret := range secrets {
		for how, wrap := range wrappers() {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				line := wrap(secret)
				got := s.Line([]byte(line))
				require.Contains(t, string(got), "[redacted:"+name+"]")
				require.Equal(t, string(got), string(s.Line(got)), "redacting again changes nothing")
				require.NotContains(t, string(got), "\n")
				if how != "plain" {
					require.NoError(t, pyjson.Check(got, pyjson.Strict))
				}
				parts := longRun.FindAllString(secret, -1)
				longest := ""
				for _, p := range parts {
					if len(p) > len(longest) {
						longest = p
					}
				}
				require.NotContains(t, string(got), longest)
			})
		}
	}
}

func TestSignaturesAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := Secrets()
	for _, name := range []string{"signature", "thought_signature", "thoughtSignature", "encrypted_content"} {
		for _, secret := range plant() {
			quoted, err := json.Marshal(secret)
			require.NoError(t, err)
			line := `{"type": "thinking", "` + name + `": ` + string(quoted) + `}`
			require.Equal(t, line, string(s.Line([]byte(line))))
			nested, err := json.Marshal(line)
			require.NoError(t, err)
			require.Equal(t, string(nested), string(s.Line(nested)))
		}
	}
}

// TestCleanTextIsLeftAlone goes over the sources of Go's library, which are
// what agents read and print all day; those that hold keys on purpose count.
func TestCleanTextIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := Secrets()
	size, hits := 0, 0
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.Contains(path, "crypto") || size > 12<<20 {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		size += len(text)
		quoted, err := json.Marshal(string(text))
		if err != nil {
			return err
		}
		if n := strings.Count(string(s.Line(quoted)), "[redacted:"); n > 0 {
			hits += n
			t.Log(path, n)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, size, 10<<20)
	t.Logf("%d hits in %d MB", hits, size>>20)
	require.LessOrEqual(t, hits, size/(10<<20))
}
