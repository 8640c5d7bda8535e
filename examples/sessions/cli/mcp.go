package cli

import (
	"os"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/recall"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
)

type mcpCommand struct {
	local
	AllProjects bool   `help:"Tell of all projects. An agent in any of them then reads what was said in the others."`
	PrintConfig string `enum:",claude,codex,vscode,zed" default:"" placeholder:"PROGRAM" help:"Print the lines that make claude, codex, vscode or zed start this, and the file that they belong to."`
}

// Help is shown below the usage.
func (mcpCommand) Help() string {
	return `Answers a program that speaks the Model Context Protocol on standard input and output: it searches, lists and reads earlier sessions, and finds what a compaction hid and what was done to a file. It only reads.

It tells of the sessions of the working directory's project, or of the directories that the program names. Never told are sessions in the trash, those that "sessions hide" or "sessions remote keep-local" or a rule about names keeps here, those that descend from these, those of other users, and those that a program runs now. What looks like a secret is replaced before anything is searched or cut. What is told stands between marks that nobody knew who wrote it, without characters that a person does not see. A model may still obey what it reads: let it tell an agent nothing that the agent should not act on.`
}

// Run answers, or prints the lines of a configuration.
func (c *mcpCommand) Run(a *app) error {
	if err := a.document(); err != nil {
		return err
	}
	if c.PrintConfig != "" {
		return c.print(a)
	}
	a.cache = -1 // the server goes on for as long as the agent
	p, err := a.known(where(c.local))
	if err != nil {
		return err
	}
	s := &recall.Server{Projects: p, Rules: secretRules(), All: c.AllProjects, Version: version()}
	if !c.AllProjects {
		if s.Here, err = where(c.local).existing(a, p, true); err != nil {
			return err
		}
	}
	if c.Project != "" {
		s.Project = s.Here
	}
	debug.SetMemoryLimit(48 << 20) // else the garbage of a search is 60 MB
	return s.Run(a.ctx, &mcp.StdioTransport{})
}

// configs are the files in which programs name the servers that they start, and the form.
var configs = map[string]struct{ file, form string }{
	"claude": {".mcp.json in the project, or ~/.claude.json for all", "{\"mcpServers\": {\"sessions\": {\"command\": %s, \"args\": %s}}}\n"},
	"codex":  {"~/.codex/config.toml", "[mcp_servers.sessions]\ncommand = %s\nargs = %s\n"},
	"vscode": {".vscode/mcp.json in the project", "{\"servers\": {\"sessions\": {\"type\": \"stdio\", \"command\": %s, \"args\": %s}}}\n"},
	"zed":    {"~/.config/zed/settings.json", "{\"context_servers\": {\"sessions\": {\"command\": %s, \"args\": %s}}}\n"},
}

func (c *mcpCommand) print(a *app) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"mcp"}
	if c.SessionsRoot != "" {
		args = append(args, "--sessions-root="+absolute(c.SessionsRoot))
	}
	if c.Project != "" {
		args = append(args, "--project="+c.Project)
	}
	if c.AllProjects {
		args = append(args, "--all-projects")
	}
	config := configs[c.PrintConfig]
	a.Notef("In %s:", config.file)
	a.Printf(config.form, raw(program), raw(args))
	return nil
}

type hideCommand struct {
	here
	No bool `help:"Take it back."`
}

// Help is shown below the usage.
func (hideCommand) Help() string {
	return `Keeps a session, and those that descend from it, from being told to agents by "sessions mcp", and from ever leaving this machine. You see them in lists, where "hidden" marks the one that you named. --no takes it back.`
}

// Run hides, or takes it back.
func (c *hideCommand) Run(a *app) error {
	t, err := c.find(a)
	if err != nil {
		return err
	}
	st, err := a.rules(t)
	if err != nil {
		return err
	}
	status, words, change := "hidden", "is not told to agents, and stays on this machine", st.Hide
	if c.No {
		status, words, change = "shown", "is told to agents again, unless another rule keeps it here", st.Unhide
	}
	if err := change(a.ctx, t.id); err != nil {
		return err
	}
	return a.answer(object{{"session_id", t.id}, {"status", status}}, func() { a.Printf("%s %s %s\n", a.mark(nil), screen.Plain(t.id), words) })
}

// rules opens the store of a session without a remote: to change what the rules say of it.
func (a *app) rules(t target) (*hybrid.Store, error) {
	st, err := hybrid.Open(a.ctx, t.store.Dir(), &hybrid.Options{Store: a.storeOptions()})
	if err == nil {
		a.later(st.Close)
	}
	return st, err
}
