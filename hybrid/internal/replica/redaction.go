package replica

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// RedactionFile is the name of the file beside the states with the version of the
// rules of redaction that were given last. It holds no rule itself.
const RedactionFile = "redaction.json"

type redactionDoc struct {
	V       int    `json:"v"`
	Version string `json:"version"`
}

// Redaction returns the version of the rules that are remembered; "" for none.
func (s *States) Redaction() (string, error) {
	text, err := s.Read(RedactionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var doc redactionDoc
	if json.Unmarshal(text, &doc) != nil || doc.V != stateVersion {
		return "", fmt.Errorf("read %s: not of this version", RedactionFile)
	}
	return doc.Version, nil
}

// SetRedaction remembers the version of rules for all programs that open the
// directory. It is durable then.
func (s *States) SetRedaction(version string) error {
	text, err := json.Marshal(redactionDoc{stateVersion, version})
	if err != nil {
		return err
	}
	return s.Write(RedactionFile, text)
}

// RulesName returns what rules are called apart from their version: that of
// "secrets/3" and "secrets/4+1f" is "secrets". Rules of one name follow each other.
func RulesName(version string) string {
	name, _, _ := strings.Cut(version, "/")
	return strings.TrimRight(name, "0123456789")
}

// BuiltIn reports whether rules of the version mine, of which only the number grows,
// can stand for those of the version asked.
func BuiltIn(mine, asked string) bool {
	_, rest := numbered(asked)
	return strings.Contains(asked, "/") && rest == "" && Follows(mine, asked)
}

// Follows reports whether rules of the version mine may take the place of those of the
// version was. They have the same name, no lower number, and stand for patterns of the
// user where those did, which is what follows the number. Whether other patterns find
// more or less cannot be told: whoever gives them decides.
func Follows(mine, was string) bool {
	if RulesName(mine) != RulesName(was) {
		return false
	}
	number, rest := numbered(mine)
	before, patterns := numbered(was)
	return compareNumbers(number, before) >= 0 && (patterns == "" || rest != "")
}

// numbered returns the digits of a version, without zeros before them, and what
// follows them: of "secrets/4+1f" these are "4" and "+1f".
func numbered(version string) (number, rest string) {
	text := strings.TrimPrefix(version[len(RulesName(version)):], "/")
	rest = strings.TrimLeft(text, "0123456789")
	return strings.TrimLeft(text[:len(text)-len(rest)], "0"), rest
}

func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
