package cli

import (
	"slices"
	"strings"
)

// formerNames has the former names of commands and forms, and what to write in their place.
var formerNames = map[string]string{
	"--json=v1":     "--json, whose answer is what was the member result",
	"conversation":  `"sessions workflow conversation SESSION"`,
	"decisions":     `"sessions workflow decisions SESSION"`,
	"diff":          `"sessions show SESSION -T" of each of them`,
	"keep-local":    `"sessions remote keep-local"`,
	"phases":        `"sessions workflow SESSION"`,
	"prune":         `"sessions remote prune"`,
	"purge":         `"sessions remote purge"`,
	"recreate":      `"sessions remote recreate"`,
	"trash restore": `"sessions undo RECEIPT", once for each`,
	"tree":          `"sessions list --tree SESSION"`,

	"remote histories": `"sessions remote show SESSION --histories"`,
	"remote logs":      `"sessions remote show SESSION --logs"`,
}

// formerName is a former name that the arguments use, as an error.
type formerName string

func (name formerName) Error() string { return "this is now " + formerNames[string(name)] }

// formerly returns the former name that wrong arguments use, or else their error.
func formerly(args []string, err error) error {
	if err == nil {
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(args), func(w string) bool { return strings.HasPrefix(w, "-") })
	for name := range formerNames {
		if slices.Contains(args, name) && strings.HasPrefix(name, "-") || strings.HasPrefix(strings.Join(words, " ")+" ", name+" ") {
			return formerName(name)
		}
	}
	return err
}
