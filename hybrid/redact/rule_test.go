package redact

import (
	"bytes"
	"cmp"
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
	for _, m := range shape.FindAllSubmatchIndex(text, -1) {
		from, to := m[0], m[1]
		if len(m) > 2 && m[2] >= 0 {
			from, to = m[2], m[3]
		}
		if r.keep || r.needs.met(text[from:to]) && !isExample(text[from:to]) {
			found = append(found, place{from: from, to: to, kind: r.name})
		}
	}
	return found
}

// TestRulesFindWhatTheirShapesMatch puts texts together of secrets, of parts
// of them, and of what stands around them.
func TestRulesFindWhatTheirShapesMatch(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	whole := []string{`"signature": "x"`, `"signature": "x\"y" `}
	var parts []string
	plants := plant()
	for _, name := range slices.Sorted(maps.Keys(plants)) {
		s := plants[name]
		whole = append(whole, s)
		parts = append(parts, s[:len(s)/2], s[len(s)/2:], s[1:], strings.ToUpper(s), strings.ToLower(s))
	}
	for _, rule := range shapeRules() {
		parts = append(parts, rule.starts...)
	}
	parts = append(parts, `"signature": "`, `"thoughtSignature":"`, `"encrypted_content" : "`, `\"`, "http", "a+b", "12345678", "a1:b2c3d4@x",
		" ", "_", "-", ".", ";", "=", `"`, "\n", "x", "7", "é", ":", "/", "@", "\\", "Bearer\t", "password = ")
	f := Secrets()
	shapes := make([]*regexp.Regexp, len(f.rules))
	for i, rule := range f.rules {
		if rule.shape != "" {
			shapes[i] = regexp.MustCompile(rule.shape)
		}
	}
	hits := map[string]int{}
	for range 3000 {
		var b bytes.Buffer
		for range 1 + r.IntN(12) {
			from := parts
			if r.IntN(2) == 0 {
				from = whole
				b.WriteString(parts[r.IntN(len(parts))][:1])
				b.WriteString(" ")
			}
			b.WriteString(from[r.IntN(len(from))])
		}
		text := b.Bytes()
		got := map[string][]place{}
		s := scan{rules: f.rules, view: &view{text: text}}
		s.run(f.starts)
		for _, p := range append(s.found, s.kept...) {
			if !p.named {
				got[p.kind] = append(got[p.kind], p)
			}
		}
		want := map[string][]place{}
		for i := range f.rules {
			if shapes[i] == nil {
				delete(got, f.rules[i].name)
				continue
			}
			found := findPlainly(&f.rules[i], shapes[i], text)
			if len(found) > 0 {
				want[f.rules[i].name] = append(want[f.rules[i].name], found...)
			}
			hits[f.rules[i].name] += len(found)
		}
		for _, all := range []map[string][]place{got, want} {
			for kind := range all {
				slices.SortFunc(all[kind], func(a, b place) int { return cmp.Or(a.from-b.from, a.to-b.to) })
			}
		}
		require.Equal(t, want, got, "%q", text)
	}
	for _, rule := range f.rules {
		require.True(t, rule.shape == "" || hits[rule.name] > 5, rule.name)
	}
}
