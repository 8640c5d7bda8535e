package replica

import (
	"cmp"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/store/private"
)

// The names of the files beside the states with the rules of the directory.
const (
	PrivateFile   = private.GlobsFile
	LocalOnlyFile = private.LocalOnlyFile
	RedactionFile = private.RedactionFile
)

// RulesName returns the name of rules without their version: "secrets" for "secrets/3"
// and "secrets/4+1f". Rules of one name follow each other.
func RulesName(version string) string {
	name, _, _ := strings.Cut(version, "/")
	return strings.TrimRight(name, "0123456789")
}

// BuiltIn reports whether rules of the version own, in which only the number grows, can
// replace rules of the version asked.
func BuiltIn(own, asked string) bool {
	_, rest := numbered(asked)
	return strings.Contains(asked, "/") && rest == "" && Follows(own, asked)
}

// Follows reports whether rules of the version own may replace rules of the version was.
// They have the same name, no lower number, and patterns of the user where the former
// rules had some, which is the part behind the number. Whether other patterns find more
// or less is unknown: their author decides.
func Follows(own, was string) bool {
	if RulesName(own) != RulesName(was) {
		return false
	}
	number, rest := numbered(own)
	before, patterns := numbered(was)
	return compareNumbers(number, before) >= 0 && (patterns == "" || rest != "")
}

// numbered returns the digits of a version, without leading zeros, and the rest behind
// them: "4" and "+1f" of "secrets/4+1f".
func numbered(version string) (number, rest string) {
	text := strings.TrimPrefix(version[len(RulesName(version)):], "/")
	rest = strings.TrimLeft(text, "0123456789")
	return strings.TrimLeft(text[:len(text)-len(rest)], "0"), rest
}

func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
