package redact

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// sample is a text of the corpus.
type sample struct {
	kind, text string
	secrets    []string
}

var part = regexp.MustCompile(`\{([a-z0-9]*)(?::(\d+))?\}`)

// corpus reads a file of testdata/corpus and makes up what its parts stand for.
func corpus(t testing.TB, file string, seed uint64) (all []sample) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "corpus", file))
	require.NoError(t, err)
	r := fake{rand.New(rand.NewPCG(6, seed))}
	for line := range strings.Lines(string(raw)) {
		kind, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		require.True(t, ok, line)
		text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(text)
		text = part.ReplaceAllStringFunc(text, func(p string) string { return r.part(p) })
		s := sample{kind: kind}
		for i, piece := range strings.FieldsFunc("\x00"+text, func(r rune) bool { return r == '«' || r == '»' }) {
			if i%2 == 1 {
				s.secrets = append(s.secrets, piece)
			}
		}
		s.text = strings.NewReplacer("«", "", "»", "").Replace(text)
		all = append(all, s)
	}
	return all
}

// part makes up a part of a text; what is no part stays.
func (r fake) part(text string) string {
	m := part.FindStringSubmatch(text)
	n, _ := strconv.Atoi(m[2])
	switch m[1] {
	case "":
		if text == "{}" {
			return ""
		}
	case "alnum":
		return r.of(small+capital+decimal, n)
	case "mixed":
		return r.alnum(n)
	case "hex":
		return r.hex(n)
	case "upper":
		return r.upper(n)
	case "digits", "digits1":
		return r.of("123456789", 1) + r.of(decimal, n-1)
	case "b64":
		return r.of(small+capital+decimal+"+/", n)
	case "b64u":
		return r.of(small+capital+decimal+"-_", n)
	case "pw":
		return r.of(small+capital, 1) + r.of(small+capital+decimal+"!#%^*-_+=?.", n-2) + r.of(decimal, 1)
	case "pw2":
		return r.of(small+capital, 1) + r.of(small+capital+decimal+"!*-_.+~", n-2) + r.of(decimal, 1)
	case "uuid":
		return r.hex(8) + "-" + r.hex(4) + "-" + r.hex(4) + "-" + r.hex(4) + "-" + r.hex(12)
	}
	return text
}

// inPlaces returns a text in the places in which a session holds texts.
func inPlaces(text string) map[string]string {
	quote := func(s string) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(s) // a string can always be encoded
		return strings.TrimSuffix(b.String(), "\n")
	}
	call := `{"command": ` + quote("cat <<'END' | sh\n"+text+"\nEND") + `, "timeout": 30}`
	result := `{"stdout": ` + quote("before\n"+text+"\nafter\n") + `, "returncode": 0}`
	return map[string]string{
		"message of a user":  `{"role": "user", "content": ` + quote(text) + `}`,
		"answer":             `{"role": "assistant", "content": [{"type": "text", "text": ` + quote("Do this:\n\n```\n"+text+"\n```\n") + `}]}`,
		"call of a tool":     `{"role": "assistant", "tool_calls": [{"id": "call_1", "function": {"name": "bash", "arguments": ` + quote(call) + `}}]}`,
		"result of a tool":   `{"role": "tool", "tool_call_id": "call_1", "content": ` + quote(result) + `}`,
		"event with the row": `{"event": "tool:post", "data": {"raw": ` + quote(`{"content": `+quote(result)+`}`) + `}}`,
		"line of a file":     strings.ReplaceAll(text, "\n", `\n`),
	}
}

// bare is the text of a line without any escapes.
func bare(line []byte) string {
	v := &view{text: line}
	for range layers + 1 {
		next, ok := v.unescaped()
		if !ok {
			break
		}
		v = next
	}
	return string(v.text)
}

// visible reports whether a secret, or a part of it that would help to guess
// it, is still in a line.
func visible(line []byte, secrets []string) bool {
	text := bare(line)
	return slices.ContainsFunc(secrets, func(s string) bool {
		half := (len(s) + 1) / 2
		return strings.Contains(text, s[:half]) || strings.Contains(text, s[half:])
	})
}

// wrongOnes goes over a corpus, tells what is wrong by its kind, and returns how
// many samples are wrong in any place.
func wrongOnes(t *testing.T, all []sample, wrong func(s sample, line, got []byte) bool) (count int) {
	t.Helper()
	rules := Secrets()
	for _, s := range all {
		var where []string
		for place, line := range inPlaces(s.text) {
			got := rules.Line([]byte(line))
			require.Equal(t, string(got), string(rules.Line(got)), "redacting again changes nothing")
			if place != "line of a file" {
				require.NoError(t, pyjson.Check(got, pyjson.Strict), "%s in a %s", s.kind, place)
			}
			if wrong(s, []byte(line), got) {
				where = append(where, place)
			}
		}
		if len(where) > 0 {
			count++
			slices.Sort(where)
			t.Logf("%s: %s (%s)", s.kind, s.text, strings.Join(where, ", "))
		}
	}
	t.Logf("%d of %d are wrong", count, len(all))
	return count
}

// seeds are for how many times the parts of the corpus are made up.
const seeds = 5

func TestSecretsOfTheCorpusAreFound(t *testing.T) {
	t.Parallel()
	missed, count := 0, 0
	for seed := range uint64(seeds) {
		all := corpus(t, "secrets.txt", seed)
		require.Len(t, all, 300)
		for _, s := range all {
			require.NotEmpty(t, s.secrets, s.text)
		}
		count += len(all)
		missed += wrongOnes(t, all, func(s sample, _, got []byte) bool { return visible(got, s.secrets) })
	}
	require.LessOrEqual(t, missed, count/100)
}

func TestHarmlessTextsOfTheCorpusAreLeftAlone(t *testing.T) {
	t.Parallel()
	changed, count := 0, 0
	for seed := range uint64(seeds) {
		all := corpus(t, "harmless.txt", seed)
		require.GreaterOrEqual(t, len(all), 300)
		count += len(all)
		changed += wrongOnes(t, all, func(_ sample, line, got []byte) bool { return string(line) != string(got) })
	}
	require.LessOrEqual(t, changed, count/100)
}
