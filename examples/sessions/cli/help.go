package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"A command, as fork, or trash restore."`
	Man     bool     `help:"Write the manual page, as roff."`
}

// Help is shown below the usage.
func (helpCommand) Help() string {
	return `Shows the help of a command, or of all. With --man it writes the manual page of all commands:

    sessions help --man >~/.local/share/man/man1/sessions.1`
}

// Run helps.
func (c *helpCommand) Run(a *app) error {
	if c.Man {
		if len(c.Command) > 0 {
			return usageError{"--man: the manual page has all commands, so name none"}
		}
		a.Print(manual(a.parser.Model.Node))
		return nil
	}
	chosen, code, err := parse(a.parser, append(c.Command, "--help"))
	if err != nil {
		return exitCode(a.tellUsage(chosen, err))
	}
	return exitCode(code)
}

// version tells which build of the tool this is.
func version() string {
	number := "(not a release)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		number = info.Main.Version
	}
	return fmt.Sprintf("sessions %s, %s, %s/%s", number, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
