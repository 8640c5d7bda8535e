package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// DenyFile is the name of the file beside the states with the rules that were given
// last.
const DenyFile = "deny.json"

type denyDoc struct {
	V     int      `json:"v"`
	Globs []string `json:"globs"`
}

// Globs keeps the globs that were given for the next process, or returns those of
// the last one when given is nil. That one of those is malformed is an error.
func (s *States) Globs(given []string) ([]string, error) {
	var doc denyDoc
	text, err := s.Read(DenyFile)
	missing := errors.Is(err, fs.ErrNotExist)
	if err == nil && (json.Unmarshal(text, &doc) != nil || doc.V != stateVersion) {
		err = fmt.Errorf("read %s: not of this version", DenyFile)
	}
	for i, glob := range doc.Globs {
		if _, bad := MatchGlob(glob, ""); bad != nil && err == nil {
			err = fmt.Errorf("read %s: glob %d: %w", DenyFile, i+1, bad)
		}
	}
	switch {
	case missing && len(given) == 0:
		return given, nil
	case given == nil || err == nil && slices.Equal(doc.Globs, given):
		return doc.Globs, err
	}
	if text, err = json.Marshal(denyDoc{stateVersion, given}); err != nil {
		return given, err
	}
	return given, s.Write(DenyFile, text)
}

// MatchGlob reports whether a glob fits all of s: as [path.Match] does, but here a slash
// is a character as any other. The error tells that the glob is malformed.
func MatchGlob(glob, s string) (bool, error) {
	if _, err := path.Match(glob, ""); err != nil {
		return false, err
	}
	after, from, starred := "", "", false // what follows the last star, and where in s that was tried
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

// firstOf returns what of a glob without a star at its beginning stands for one character.
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

// fits returns how many bytes at the beginning of s a part of a glob stands for; 0: it
// does not fit.
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
