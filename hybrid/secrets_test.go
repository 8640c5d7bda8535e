package hybrid

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

// plant returns a secret of each shape, made up here so that none stands in
// the source.
func plant() map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	of := func(alphabet string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(alphabet[r.IntN(len(alphabet))])
		}
		return b.String()
	}
	const (
		lower = "abcdefghijklmnopqrstuvwxyz"
		hex   = "0123456789abcdef"
	)
	alnum := func(n int) string { return "aB3" + of(lower+strings.ToUpper(lower)+"0123456789", n-3) }
	upper := func(n int) string { return of(strings.ToUpper(lower)+"234567", n) }
	return map[string]string{
		"aws-key":            "AKIA" + upper(16),
		"github-token":       "ghp_" + alnum(36),
		"github-pat":         "github_pat_" + alnum(40),
		"gitlab-token":       "glpat-" + alnum(20),
		"slack-token":        "xoxb-" + of("0123456789", 12) + "-" + alnum(20),
		"anthropic-key":      "sk-ant-" + "api03-" + alnum(60),
		"openai-key":         "sk-" + "proj-" + alnum(48),
		"google-key":         "AIza" + alnum(35),
		"google-token":       "ya29." + alnum(40),
		"google-secret":      "GOCSPX-" + alnum(28),
		"stripe-key":         "sk_" + "live_" + alnum(24),
		"npm-token":          "npm_" + alnum(36),
		"pypi-token":         "pypi-" + alnum(60),
		"huggingface-token":  "hf_" + alnum(34),
		"sendgrid-key":       "SG." + alnum(22) + "." + alnum(43),
		"twilio-key":         "SK" + of(hex, 32),
		"digitalocean-token": "dop_v1_" + of(hex, 64),
		"shopify-token":      "shpat_" + of(hex, 32),
		"vault-token":        "hvs." + alnum(30),
		"databricks-token":   "dapi" + of(hex, 32),
		"linear-key":         "lin_api_" + alnum(40),
		"age-key":            "AGE-SECRET-KEY-1" + upper(58),
		"telegram-token":     of("123456789", 9) + ":AA" + alnum(33),
		"jwt":                "eyJ" + alnum(20) + ".eyJ" + alnum(40) + "." + alnum(43),
		"private-key":        "-----BEGIN RSA " + "PRIVATE KEY-----\n" + alnum(64) + "\n" + alnum(64) + "\n-----END RSA " + "PRIVATE KEY-----",
		"azure-key":          "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=" + alnum(86) + "==;EndpointSuffix=core",
		"azure-sas":          "https://x.blob.example/c?sv=2024&sig=" + alnum(43) + "%3D",
		"connection-string":  "Server=db;User Id=sa;Password=" + alnum(12) + ";Encrypt=true",
		"url-password":       "postgres://ada:" + alnum(16) + "@db:5432/x",
		"bearer":             "Authorization: Bearer " + of(hex, 40),
		"aws-secret":         "aws_secret_access_key = " + alnum(40),
		"basic-auth":         "Authorization: Basic " + alnum(24) + "==",
		"slack-webhook":      "https://hooks.slack.com/services/T" + alnum(8) + "/B" + alnum(8) + "/" + alnum(24),
	}
}

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

// core is the longest run of a secret that no placeholder could hold.
var core = regexp.MustCompile(`[A-Za-z0-9]{12,}`)

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
				parts := core.FindAllString(secret, -1)
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

func TestSecretsStayAtHome(t *testing.T) {
	t.Parallel()
	c := newCloud(t, nil)
	a := c.device(t, "a", func(o *Options) { o.Redact = Secrets() })
	secret := plant()["github-token"]
	a.say("s", "use "+secret, strings.Repeat("x", 300<<10)+" "+secret)
	a.put("s", "events.jsonl", `{"event":"tool","data":"`+secret+`"}`+"\n")
	a.put("s", "config.md", "key: "+secret+"\n")
	a.sync()
	b := c.device(t, "b", func(o *Options) { o.Redact = Secrets() })
	b.pull()
	for _, name := range []string{"transcript.jsonl", "events.jsonl", "config.md"} {
		require.NotContains(t, b.file("s", name), secret)
		require.Contains(t, b.file("s", name), "[redacted:github-token]")
		require.Contains(t, a.file("s", name), secret)
	}
	require.Zero(t, a.sync().Pushed+b.sync().Pushed)
}

func BenchmarkSecrets(b *testing.B) {
	s := Secrets()
	line, err := json.Marshal(strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 20000))
	require.NoError(b, err)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		s.Line(line)
	}
}
