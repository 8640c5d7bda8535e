package private

import (
	"path"
	"strings"
	"unicode/utf8"
)

// MatchGlob reports whether a glob fits all of s: as [path.Match] does, but here a slash
// is a character as any other. It returns an error for a malformed glob.
func MatchGlob(glob, s string) (bool, error) {
	if _, err := path.Match(glob, ""); err != nil {
		return false, err
	}
	after, from, starred := "", "", false // the glob behind the last star, and the place in s where it was tried
	for glob != "" || s != "" {
		if strings.HasPrefix(glob, "*") {
			glob = glob[1:]
			after, from, starred = glob, s, true
			continue
		}
		part := firstOf(glob)
		if n := fits(part, s); n > 0 {
			glob, s = glob[len(part):], s[n:]
			continue
		}
		if !starred || from == "" {
			return false, nil
		}
		from = from[1:]
		glob, s = after, from
	}
	return true, nil
}

// firstOf returns the part of a glob without a star at its beginning that matches one
// character.
func firstOf(glob string) string {
	if glob == "" || glob[0] != '[' && glob[0] != '\\' {
		return glob[:min(1, len(glob))]
	}
	for i := 1; glob[0] == '['; i++ {
		switch glob[i] {
		case '\\':
			i++
		case ']':
			return glob[:i+1]
		}
	}
	return glob[:2]
}

// fits returns the number of bytes at the beginning of s that a part of a glob matches;
// 0: it does not fit.
func fits(part, s string) (n int) {
	if part == "" || s == "" {
		return 0
	}
	n = 1
	if part[0] == '?' || part[0] == '[' {
		_, n = utf8.DecodeRuneInString(s)
	}
	if ok, err := path.Match(part, s[:n]); part != "?" && (!ok || err != nil) {
		return 0
	}
	return n
}
