package picker

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How much a match counts.
const (
	wholeScore    = 1000 // the text holds the word
	looseScore    = 500  // the text holds its letters, with gaps
	boundaryScore = 100  // the match begins where a word of the text begins
	gapCost       = 10   // for each byte between the letters
	spread        = 4    // a match is at most this many times as long as the word
)

// score returns how well a word matches a text, both in lower case, and 0 when the word
// does not match.
func score(word, text string) int {
	if word == "" {
		return 1
	}
	if at := strings.Index(text, word); at >= 0 {
		return wholeScore + boundary(text, at) - min(at, boundaryScore/2)
	}
	best := 0
	for from := 0; from < len(text); {
		start, end, ok := window(word, text[from:])
		if !ok {
			break
		}
		start, end = start+from, end+from
		if end-start <= spread*len(word) {
			best = max(best, looseScore+boundary(text, start)-gapCost*(end-start-len(word)))
		}
		_, n := utf8.DecodeRuneInString(text[start:])
		from = start + n
	}
	return best
}

// window returns the shortest part of text that ends where the letters of word
// were found in order for the first time.
func window(word, text string) (start, end int, ok bool) {
	rest := word
	for i, r := range text {
		want, n := utf8.DecodeRuneInString(rest)
		if r != want {
			continue
		}
		if rest = rest[n:]; rest == "" {
			end = i + utf8.RuneLen(r)
			break
		}
	}
	if rest != "" {
		return 0, 0, false
	}
	start = end
	for rest = word; rest != ""; {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		start -= n
		if last, m := utf8.DecodeLastRuneInString(rest); r == last {
			rest = rest[:len(rest)-m]
		}
	}
	return start, end, true
}

// boundary is the bonus of a match that begins at a byte of text.
func boundary(text string, at int) int {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	if at == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
		return boundaryScore
	}
	return 0
}
