// Package nfc compares strings as people do: "é" may be one character or two.
package nfc

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// The file has three lines of Unicode 15: characters that are composed, each with its two
// parts; the other characters that decompose, with what they become; and the ranges of
// marks, with their combining classes.
//
//go:embed unicode.txt
var unicodeText string

type tables struct {
	parts    map[rune][]rune
	composed map[[2]rune]rune
	class    map[rune]uint8
}

var load = sync.OnceValue(func() *tables {
	t := &tables{map[rune][]rune{}, map[[2]rune]rune{}, map[rune]uint8{}}
	lines := strings.Split(unicodeText, "\n")
	for three := range slices.Chunk([]rune(lines[0]), 3) {
		t.parts[three[0]], t.composed[[2]rune(three[1:])] = three[1:], three[0]
	}
	for item := range strings.SplitSeq(lines[1], " ") {
		all := []rune(item)
		t.parts[all[0]] = all[1:]
	}
	var first, last rune
	var class uint8
	for in := strings.NewReader(lines[2]); ; {
		if _, err := fmt.Fscanf(in, "%x %x %d ", &first, &last, &class); err != nil {
			return t
		}
		for r := first; r <= last; r++ {
			t.class[r] = class
		}
	}
})

// firstMark is the first character that composes: strings of those before it stay as they are.
const firstMark = 0x300

// String returns s in Unicode's normalization form C. Bytes that are not UTF-8 become the
// replacement character, if another character changes s.
func String(s string) string {
	if !utf8.ValidString(s) || strings.IndexFunc(s, func(r rune) bool { return r >= firstMark }) < 0 {
		return s
	}
	t := load()
	return string(t.compose(t.decomposed(s)))
}

// Steady reports whether r, of a composed string, is the same in a decomposed one.
func Steady(r rune) bool {
	if r < utf8.RuneSelf {
		return true
	}
	t := load()
	return t.class[r] == 0 && len(t.decompose(nil, r)) == 1
}

// Expression returns a regular expression that matches s, composed and decomposed.
func Expression(s string) string {
	whole := String(s)
	if !utf8.ValidString(s) || whole == s && !strings.ContainsFunc(s, func(r rune) bool { return !Steady(r) }) {
		return regexp.QuoteMeta(s)
	}
	t, all := load(), []rune(whole)
	var text strings.Builder
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && t.class[all[end]] > 0 {
			end++
		}
		composed := string(all[i:end])
		if decomposed := string(t.decomposed(composed)); decomposed != composed {
			fmt.Fprintf(&text, "(?:%s|%s)", composed, decomposed)
		} else {
			text.WriteString(regexp.QuoteMeta(composed))
		}
		i = end
	}
	return text.String() + "|" + regexp.QuoteMeta(s)
}

// decomposed returns s in Unicode's normalization form D.
func (t *tables) decomposed(s string) (all []rune) {
	for _, r := range s {
		all = t.decompose(all, r)
	}
	for i := 0; i < len(all); {
		end := i + 1
		for t.class[all[i]] > 0 && end < len(all) && t.class[all[end]] > 0 {
			end++
		}
		slices.SortStableFunc(all[i:end], func(a, b rune) int { return int(t.class[a]) - int(t.class[b]) })
		i = end
	}
	return all
}

// The syllables of Hangul are computed.
const (
	syllables, leads, vowels, trails = 0xac00, 0x1100, 0x1161, 0x11a7
	nLeads, nVowels, nTrails         = 19, 21, 28
)

func (t *tables) decompose(all []rune, r rune) []rune {
	if i := r - syllables; i >= 0 && i < nLeads*nVowels*nTrails {
		if all = append(all, leads+i/(nVowels*nTrails), vowels+i/nTrails%nVowels); i%nTrails > 0 {
			all = append(all, trails+i%nTrails)
		}
		return all
	}
	parts, ok := t.parts[r]
	if !ok {
		return append(all, r)
	}
	for _, part := range parts {
		all = t.decompose(all, part)
	}
	return all
}

// compose composes, in its place, what is decomposed and in order.
func (t *tables) compose(all []rune) []rune {
	out, starter, last := all[:0], -1, uint8(0) // last is the class of the last rune since the starter
	for _, r := range all {
		class := t.class[r]
		if starter >= 0 && (len(out) == starter+1 || last < class && last > 0) {
			if c, ok := t.pair(out[starter], r); ok {
				out[starter] = c
				continue
			}
		}
		if out = append(out, r); class == 0 {
			starter = len(out) - 1
		}
		last = class
	}
	return out
}

func (t *tables) pair(a, b rune) (rune, bool) {
	l, v := a-leads, b-vowels
	if l >= 0 && l < nLeads && v >= 0 && v < nVowels {
		return syllables + (l*nVowels+v)*nTrails, true
	}
	s, f := a-syllables, b-trails
	if s >= 0 && s < nLeads*nVowels*nTrails && s%nTrails == 0 && f > 0 && f < nTrails {
		return a + f, true
	}
	c, ok := t.composed[[2]rune{a, b}]
	return c, ok
}
