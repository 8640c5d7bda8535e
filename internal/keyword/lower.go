package keyword

import (
	"unicode"
	"unicode/utf8"
)

// appendLower appends text as Python's str.lower makes it: the full lower
// case of Unicode, in which İ becomes two characters and Σ has another form
// at the end of a word. Bytes that are not UTF-8 stay.
func appendLower(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, c)
		case r == dottedI:
			dst = append(dst, "i\u0307"...)
		case r == capitalSigma && endsWord(text[:i], text[i+n:]):
			dst = append(dst, "ς"...)
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

const (
	dottedI      = 'İ'
	kelvinSign   = '\u212a' // its lower case is k
	dotAbove     = '\u0307'
	capitalSigma = 'Σ'
)

// endsWord is Unicode's condition Final_Sigma: a cased letter stands before,
// and none behind. Characters that case ignores do not count.
func endsWord(before, behind []byte) bool {
	for {
		r, n := utf8.DecodeLastRune(before)
		if n == 0 || !ignorable(r) && !cased(r) {
			return false
		}
		if !ignorable(r) {
			break
		}
		before = before[:len(before)-n]
	}
	for {
		r, n := utf8.DecodeRune(behind)
		if n == 0 || !ignorable(r) {
			return n == 0 || !cased(r)
		}
		behind = behind[n:]
	}
}

// cased is Unicode's property Cased.
func cased(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// ignorable is Unicode's property Case_Ignorable.
func ignorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '·', '\u0387', '\u055f', '\u05f4', '\u2018', '\u2019', '\u2024', '\u2027',
		'\ufe13', '\ufe52', '\ufe55', '\uff07', '\uff0e', '\uff1a':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
