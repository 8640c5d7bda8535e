package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// clean makes what tools print all day: long random texts of every kind that is
// no secret.
type clean struct{ *rand.Rand }

func (r clean) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func (r clean) hex(n int) string { return hex.EncodeToString(r.bytes(n)) }

func (r clean) base64(n int) string { return base64.StdEncoding.EncodeToString(r.bytes(n)) }

func (r clean) uuid() string {
	h := r.hex(16)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func (r clean) word() string {
	return []string{
		"session", "token", "secret", "password", "authorization", "bearer", "key", "api", "user", "config", "sk", "pk", "gh", "hf", "npm",
		"basic", "private", "public", "client", "storage", "account", "the", "of", "tests", "pass", "error", "x", "login", "env",
	}[r.IntN(29)]
}

func (r clean) name() string {
	all := []string{r.word(), r.word(), r.word()}
	return strings.Join(all[:1+r.IntN(3)], []string{"-", "_", ".", "/", ""}[r.IntN(5)])
}

func (r clean) prose(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = r.word()
	}
	return strings.Join(words, " ")
}

// line is one line of some tool's output.
func (r clean) line() string {
	switch r.IntN(22) {
	case 0:
		return "commit " + r.hex(20) + "\nAuthor: Ada <ada@example.com>"
	case 1:
		return "github.com/" + r.name() + " v1.2.3 h1:" + r.base64(32)
	case 2:
		return `      "integrity": "sha512-` + r.base64(64) + `"`
	case 3:
		return "sha256:" + r.hex(32) + "  " + r.name() + ".tar.gz"
	case 4:
		return `"request_id": "req_` + r.hex(12) + `", "id": "toolu_` + strings.Trim(r.base64(18), "=+/") + `"`
	case 5:
		return "https://example.com/" + r.name() + "?id=" + r.uuid() + "&page=2&signature=none&sig=short"
	case 6:
		return "postgres://localhost:5432/" + r.name() + "?sslmode=disable"
	case 7:
		return "data:image/png;base64," + r.base64(60+r.IntN(400))
	case 8:
		return "export " + strings.ToUpper(strings.ReplaceAll(r.name(), "-", "_")) + "=$(cat " + r.name() + ")"
	case 9:
		return "func " + r.word() + "(password string, token *Token) error { return bearer(token) }"
	case 10:
		return fmt.Sprintf("%08x  % x  |%s|", r.Uint32(), r.bytes(16), r.name())
	case 11:
		return "-rw-r--r-- 1 ada ada 1234 Nov 20 10:00 " + r.name() + "_" + r.hex(20) + ".json"
	case 12:
		return "at " + r.name() + " (" + r.name() + ".js:10:20) Bearer token missing, Authorization: Basic realm"
	case 13:
		return r.uuid() + " " + r.uuid() + " " + strings.ToUpper(r.hex(16))
	case 14:
		return "call_" + strings.Trim(r.base64(18), "=+/") + " chatcmpl-" + strings.Trim(r.base64(21), "=+/")
	case 15:
		return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + r.base64(33) + " ada@box"
	case 16:
		return "-----BEGIN CERTIFICATE-----\n" + r.base64(48) + "\n-----END CERTIFICATE-----"
	case 17:
		return "class=\"sk-" + r.name() + "-" + r.name() + "-" + r.name() + "-container\" hf_" + r.name()
	case 18:
		return "password = os.environ[\"" + strings.ToUpper(r.word()) + "\"]; pwd=$PWD; Password: ********"
	case 19:
		return "sk-" + strings.ReplaceAll(r.prose(6), " ", "-") + " npm_config_" + r.word() + " AKIA_" + r.word()
	default:
		return r.prose(5 + r.IntN(20))
	}
}

var cleanBytes = flag.Int("clean", 1, "how many MB TestCleanOutputIsLeftAlone looks for secrets in")

// TestCleanOutputIsLeftAlone finds less than one false secret in 10 MB of what
// looks like secrets. It looks at few of them each time, each time at others.
func TestCleanOutputIsLeftAlone(t *testing.T) {
	t.Parallel()
	megabytes := *cleanBytes
	seed := testenv.Seed(t)
	r := clean{rand.New(rand.NewPCG(seed, 5))}
	s := Secrets()
	size, hits := 0, 0
	for size < megabytes<<20 {
		var text strings.Builder
		for text.Len() < 20<<10 {
			text.WriteString(r.line() + "\n")
		}
		line, err := json.Marshal(map[string]string{"role": "tool", "content": text.String()})
		require.NoError(t, err)
		size += len(line)
		got := string(s.Line(line))
		if n := strings.Count(got, "[redacted:"); n > 0 {
			hits += n
			at := strings.Index(got, "[redacted:")
			t.Logf("seed %d: …%s…", seed, got[max(0, at-60):min(len(got), at+60)])
		}
	}
	require.LessOrEqual(t, hits, megabytes/10, "seed %d: false hits in %d MB", seed, megabytes)
}
