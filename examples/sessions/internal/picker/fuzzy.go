package picker

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// How much a match counts.
const (
	wholeScore    = 1000 // the text holds the word
	looseScore    = 500  // the text holds its letters, with gaps
	boundaryScore = 100  // the match begins where a word of the text begins
	gapCost       = 10   // for each byte between the letters
	spread        = 4    // a match is at most this many times as long as the word
)

// folded returns a text in lower case and without accents: "zur" finds "Zürich".
func folded(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text)))
}

// score returns how well a word matches a text, both folded, and 0 when the word
// does not match.
func score(word, text string) int {
	if word == "" {
		return 1
	}
	if at := strings.Index(text, word); at >= 0 {
		return wholeScore + boundary(text, at)
	}
	best := 0
	for at := range text {
		rest := word
		for i, r := range text[at:min(len(text), at+spread*len(word))] {
			want, n := utf8.DecodeRuneInString(rest)
			if r == want {
				rest = rest[n:]
			}
			if i == 0 && r != want {
				break
			}
			if rest == "" {
				best = max(best, looseScore+boundary(text, at)-gapCost*(i+n-len(word)))
				break
			}
		}
	}
	return best
}

// boundary is the bonus of a match that begins at a byte of text.
func boundary(text string, at int) int {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
		return boundaryScore
	}
	return 0
}
