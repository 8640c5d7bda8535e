package cli

import (
	"strings"

	"github.com/alecthomas/kong"
)

// moved are the former names of commands and forms, and what to write in their place. For one
// release the tool answers to them with that.
var moved = map[string]string{
	"--json=v1":     "--json, whose answer is what was the member result",
	"diff":          `"sessions show SESSION -T" of each of them`,
	"tree":          `"sessions list --tree SESSION"`,
	"phases":        `"sessions workflow SESSION"`,
	"conversation":  `"sessions workflow conversation SESSION"`,
	"decisions":     `"sessions workflow decisions SESSION"`,
	"trash restore": `"sessions undo RECEIPT", once for each`,
	"keep-local":    `"sessions remote keep-local"`,
	"prune":         `"sessions remote prune"`,
	"purge":         `"sessions remote purge"`,
	"recreate":      `"sessions remote recreate"`,

	"remote histories": `"sessions remote show SESSION --histories"`,
	"remote logs":      `"sessions remote show SESSION --logs"`,
}

// movedCommand answers to the former name of a command.
type movedCommand struct {
	Args []string `arg:"" optional:""`
}

// Run says what to write.
func (*movedCommand) Run(a *app) error { return hasMoved(a.name) }

func hasMoved(name string) error {
	return usageError{"this is now " + moved[name]}
}

// formerNames adds the former names of commands to the commands of a parser.
func formerNames() (all []kong.Option) {
	for name := range moved {
		if !strings.Contains(name, " ") && !strings.HasPrefix(name, "--") {
			all = append(all, kong.DynamicCommand(name, "", "", &movedCommand{}, `cmd:""`, `hidden:""`, `passthrough:""`))
		}
	}
	return all
}
