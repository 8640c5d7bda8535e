package cli

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/term"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/picker"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

type pickCommand struct {
	everywhere
	Host string `placeholder:"PROGRAM" help:"Program that resumes sessions, as in \"PROGRAM session resume ID\" (default: $AMPLIFIER_HOST, else amplifier)."`
}

// Help is shown below the usage.
func (pickCommand) Help() string {
	return `Opens a list of the sessions of all projects on the terminal: Tab filters it, Enter resumes a session in its directory, ? shows all keys. Where Claude Code or Codex have conversations that are not here, it says so, and i imports them. Only the beginnings of their files are read for that, so a file in which the import finds no conversation is offered again the next time. With --json, and where standard input or output is no terminal, it is "sessions list"; there, "sessions" alone is wrong arguments.`
}

// Run opens the picker, or lists.
func (c *pickCommand) Run(a *app) error {
	in, out := terminalFile(a.stdin), terminalFile(a.stdout)
	if in == nil || out == nil || a.json || a.env("TERM") == "dumb" {
		a.name = "list"
		return (&listCommand{local: local(c.where), Limit: 20, AllProjects: c.AllProjects}).Run(a)
	}
	p, err := a.known(c.where)
	if err != nil {
		return err
	}
	slug, err := c.existing(a, p, false)
	if err != nil {
		return err
	}
	env := os.Environ()
	if c.SessionsRoot != "" && filepath.Base(p.Dir()) == "projects" { // the host is to find them there, too
		env = append(env, "AMPLIFIER_HOME="+filepath.Dir(p.Dir()))
	}
	bring := func(ctx context.Context, all []foreign.History, done func(foreign.History, error) bool) (string, error) {
		return importShortly(ctx, p, all, done)
	}
	return picker.Run(a.ctx, picker.Settings{Import: bring, Unsynced: a.unsynced, Projects: p, Project: slug, Host: host.Program(c.Host, a.env(host.Variable)), HostEnv: env, Color: a.Colourful(), Plain: a.plain, In: in, Out: out})
}

// terminalFile returns the file that a stream is, or nil when it is no terminal.
func terminalFile(stream any) *os.File {
	f, ok := stream.(*os.File)
	defer runtime.KeepAlive(f)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}
