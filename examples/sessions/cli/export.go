package cli

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

type exportCommand struct {
	anywhere
	mending
	To          string `enum:",md,html,jsonl,tar,${tools}" default:"" placeholder:"FORM" help:"md, html, jsonl, tar, ${a_tool} (default: as --output ends, else md)." group:"Output"`
	Output      string `short:"o" placeholder:"FILE" help:"Write this file, in the place of one that is there; default: standard output." group:"Output"`
	Redact      bool   `help:"Replace secrets: tokens, private keys, and the values of names as API_KEY or password. sessions secrets lists them."`
	NoTools     bool   `help:"Leave out the calls of tools and their results (md and html)."`
	NoThinking  bool   `help:"Leave out what the model thought (md and html)."`
	NoReminders bool   `help:"Leave out what tools wrote in the user's name (md and html)."`
	NoWorkflow  bool   `help:"Leave out the phases of a workflow and what was said about it (md and html)."`
}

// Help is shown below the usage.
func (exportCommand) Help() string {
	return `md and html are for people: the conversation, then the phases of a workflow and what was said about it. jsonl is the exact lines of the transcript and nothing else, tar all files of the session: "sessions import" makes a session of the last two again. Of a session that stays on this machine a tar says so, and it stays where it is imported; the other forms do not. ` + toolNames("and") + ` are for these tools: what was imported from one is its own bytes, and lines are made for what was said since; the tool did not check them. What the provider would refuse is changed there, as "repair --for" does, and told: --for names another provider, --as-it-is changes nothing. What is said there comes home with "sessions import --from". The images of md go into a folder beside the file, talk.images for talk.md; there only images that the former talk.md shows are replaced, and no symlink is followed. The session itself never changes; secrets are found by their shape or their name, so look before you publish. --json goes with --output.

    sessions export 8f14 -o talk.html --redact
    sessions export 8f14 --to=jsonl | jq -r .role
    sessions export 8f14 -o 8f14.tar
    sessions export 8f14 --to=codex -o rollout.jsonl`
}

// Run exports.
func (c *exportCommand) Run(a *app) error {
	if c.Output == "" {
		if err := a.document(); err != nil {
			return err
		}
	}
	form := cmp.Or(c.To, formOf(c.Output))
	if form != "md" && form != "html" && c.Output == "" && a.Terminal() {
		return usageError{form + " is not for a terminal: add -o FILE"}
	}
	if isTool(form) && (c.Redact || c.NoTools || c.NoThinking || c.NoReminders) {
		return usageError{"--to=" + form + " takes no --redact and leaves nothing out"}
	}
	if !isTool(form) && c.isSet() {
		return usageError{"--for and --as-it-is go with --to=" + toolNames("or")}
	}
	t, err := c.reach(a)
	if err != nil {
		return err
	}
	unmarked := form != string(archive.Tar) && archive.Kept(a.ctx, t.store, t.id)
	if unmarked {
		a.Notef("%s %s stays on this machine, and a file as %s does not say so: what is made of it elsewhere leaves; --to=tar says it", a.PaintError(screen.Yellow, "note:"), screen.Plain(t.id), form)
	}
	if isTool(form) {
		return c.history(a, t, foreign.Tool(form), unmarked)
	}
	if c.Output == "" {
		return archive.Write(a.ctx, a, t.store, []string{t.id}, c.options(form))
	}
	former, _ := os.Stat(c.Output)
	err = archive.WriteFile(a.ctx, c.Output, t.store, []string{t.id}, c.options(form))
	if errors.Is(err, sessionstore.ErrCorrupt) && former != nil && former.Mode().IsRegular() {
		a.Notef("%s stays as it was; the name of a new file gets what can be read", screen.Plain(c.Output))
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(object{{"session_id", t.id}, {"format", form}, {"path", c.Output}, {"unmarked", unmarked}})
	}
	a.Notef("%s Exported %s to %s", a.PaintError(screen.Green, "✓"), screen.Plain(t.id), screen.Plain(c.Output))
	return nil
}

// isTool reports whether a form is the format of another tool.
func isTool(form string) bool { return slices.Contains(foreign.Tools(), foreign.Tool(form)) }

// history writes a session as a file of another tool.
func (c *exportCommand) history(a *app, t target, tool foreign.Tool, unmarked bool) error {
	if c.Output == "" {
		done, err := foreign.Export(a.ctx, t.store, t.id, tool, a, c.mending.options(tool))
		a.noteMended(done.Changes)
		return unmended(err)
	}
	done, err := foreign.ExportFile(a.ctx, t.store, t.id, tool, c.Output, c.mending.options(tool))
	if err != nil {
		return unmended(err)
	}
	if a.json {
		return a.writeJSON(object{{"session_id", t.id}, {"format", tool}, {"path", c.Output}, {"file_name", done.File}, {"mended", mendedJSON(done.Changes)}, {"unmarked", unmarked}})
	}
	a.Notef("%s Exported %s to %s", a.PaintError(screen.Green, "✓"), screen.Plain(t.id), screen.Plain(c.Output))
	made := count(done.Messages, "message") + " written as lines of the tool"
	if done.Original > 0 {
		made = size(done.Original) + " as the tool wrote them, " + made
	}
	if args := tool.Takes(c.Output); args != nil {
		a.Notef("  %s; in the directory of the project this brings it in: %s", made, host.Line("", append([]string{string(tool)}, args...)...))
	} else {
		a.Notef("  %s; it looks for a file named %s", made, screen.Plain(done.File))
	}
	a.noteMended(done.Changes)
	return nil
}

// formOf returns the form that a file's name asks for.
func formOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".html", ".htm":
		return "html"
	case ".jsonl":
		return "jsonl"
	case ".tar":
		return "tar"
	}
	return "md"
}

// options returns the options for package archive.
func (c *exportCommand) options(form string) *archive.WriteOptions {
	o := &archive.WriteOptions{Format: archive.Format(form), NoTools: c.NoTools, NoThinking: c.NoThinking, NoReminders: c.NoReminders, NoWorkflow: c.NoWorkflow}
	if c.Redact {
		o.Redact = secretRules()
	}
	return o
}
