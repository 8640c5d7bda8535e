package private

import (
	"errors"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/nfc"
)

// CheckGlob returns the reason why a person who gives a glob would be wrong about what it
// keeps; nil: there is none. [MatchGlob] takes some of those, which were stored before.
func CheckGlob(glob string) error {
	if _, err := MatchGlob(glob, ""); err != nil {
		return err
	}
	switch {
	case glob == "":
		return errors.New("it is empty, and keeps nothing")
	case strings.TrimSpace(glob) != glob:
		return errors.New("it begins or ends with white space; write [ ] for a space")
	}
	for rest := glob; rest != ""; {
		part := firstOf(rest)
		rest = rest[len(part):]
		switch {
		case strings.HasPrefix(part, "[!"):
			return errors.New("[!a] is written [^a]")
		case strings.HasPrefix(part, "[[:"):
			return errors.New("classes have no names: [[:alpha:]] is written [a-zA-Z]")
		case strings.Contains("{}|", part):
			return errors.New(`{a,b} and a|b do not offer a choice: give each as a glob of its own, or write \{ and \| for the characters`)
		}
	}
	for _, after, found := strings.Cut(glob, `\`); found; _, after, found = strings.Cut(after[1:], `\`) {
		if !strings.ContainsRune(`*?[]{}|\^!-`, rune(after[0])) {
			return errors.New(`a \ takes the character after it literally, which this one is anyway: write \\ for a \`)
		}
	}
	return nil
}

// fitsNormal reports whether a glob fits s, however either writes its accents. A malformed
// glob fits everything.
func fitsNormal(glob, s string) bool {
	ok, err := MatchGlob(glob, s)
	if !ok && err == nil {
		ok, err = MatchGlob(nfc.String(glob), nfc.String(s))
	}
	return ok || err != nil
}

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
