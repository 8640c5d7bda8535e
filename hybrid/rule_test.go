package hybrid

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// findPlainly is what [rule.find] has to find: the shape, tried everywhere.
func findPlainly(r *rule, shape *regexp.Regexp, text []byte) (found []place) {
	if len(r.hints) > 0 && !slices.ContainsFunc(r.hints, func(h string) bool { return bytes.Contains(text, []byte(h)) }) {
		return nil
	}
	for _, m := range shape.FindAllSubmatchIndex(text, -1) {
		from, to := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		if r.needs.met(text[from:to]) {
			found = append(found, place{from: from, to: to, rule: r.name})
		}
	}
	return found
}

// TestRulesFindWhatTheirShapesMatch puts texts together of secrets, of parts
// of them, and of what stands around them.
func TestRulesFindWhatTheirShapesMatch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var parts []string
	plants := plant()
	for _, name := range slices.Sorted(maps.Keys(plants)) {
		s := plants[name]
		parts = append(parts, s, s, s[:len(s)/2], s[len(s)/2:], s[1:], strings.ToUpper(s), strings.ToLower(s))
	}
	for _, rule := range secretRules() {
		parts = append(append(parts, rule.hints...), rule.starts...)
	}
	parts = append(parts, `"signature": "`, `"thoughtSignature":"`, `"encrypted_content" : "`, `\"`, "http", "a+b", "12345678", "a1:b2c3d4@x",
		" ", "_", "-", ".", ";", "=", `"`, "\n", "x", "7", "é", ":", "/", "@", "\\", "Bearer\t", "password = ")
	s := Secrets().(*secrets)
	rules := append(slices.Clone(s.rules), s.signature)
	shapes := make([]*regexp.Regexp, len(rules))
	for i := range rules {
		shapes[i] = regexp.MustCompile(rules[i].shape)
	}
	hits := map[string]int{}
	for range 3000 {
		var b bytes.Buffer
		for range 1 + r.IntN(12) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		text := b.Bytes()
		for i := range rules {
			want := findPlainly(&rules[i], shapes[i], text)
			require.Equal(t, want, rules[i].find(plainView(text)), "%s in %q", rules[i].name, text)
			hits[rules[i].name] += len(want)
		}
	}
	for _, rule := range rules {
		require.Greater(t, hits[rule.name], 5, rule.name)
	}
}
