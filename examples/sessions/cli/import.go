package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive"
)

type importCommand struct {
	From string `arg:"" optional:"" help:"An archive (.tar, .tar.gz), a session's directory, or JSONL; - is standard input."`
	local
	As   string `xor:"id" placeholder:"ID" help:"Id of the new session (default: the one that it had; a fresh one for JSONL, and where that id may not come from outside)."`
	New  bool   `help:"Give it a fresh id." xor:"id"`
	Name string `placeholder:"NAME" help:"Name of the new session."`

	Tool    string `name:"from" placeholder:"TOOL" enum:",all,${tools}" default:"" help:"Bring the history of another tool: ${a_tool}, or all." group:"History of other tools"`
	Since   string `placeholder:"DATE" help:"Only histories that changed since: a date, or an age as 7d." group:"History of other tools"`
	Verbose bool   `short:"v" help:"Tell what was left out and why." group:"History of other tools"`
	DryRun  bool   `help:"Write nothing, and tell what would be done." group:"History of other tools"`
}

// Help is shown below the usage.
func (importCommand) Help() string {
	return `The session appears whole in the project of the working directory, or not at all, and never in the place of another one. Files keep their bytes and times. What was approved elsewhere does not count here: calls are asked for again, and approved commands are dropped. An id that a shell, a terminal or another system could take for something else, as -rf, "y;x" or CON, is replaced by a fresh one, which is told.

    sessions import 8f14.tar
    sessions export 8f14 --to=jsonl | sessions import --name "a copy" -

With --from=claude the sessions of Claude Code on this machine come, with --from=all those of ` + toolTitles("and") + `, each into the project of its working directory, or those of --project alone. Again, it brings what is new. No import takes anything away: where the session here and the other tool went on apart, or that tool lost turns, the session here keeps its words, and what the tool has becomes a fork of it, to which lists and resume lead. A session that was exported to the tool and went on there comes home: the new turns come into it. A session holds the whole line, what you see when you scroll up. Lists show when a session was saved here, not when its tool wrote it; those that the tool wrote last stand first.

    sessions import --from claude --since 30d --dry-run

The report tells what came, and how much was left out of the messages; with --verbose or --json, what and why. A session keeps the other tool's file whole, and so what was left out.`
}

// Run imports.
func (c *importCommand) Run(a *app) error {
	if c.Tool != "" {
		return c.history(a)
	}
	if c.Since != "" || c.DryRun || c.Verbose {
		return usageError{"--since, --verbose and --dry-run go with --from"}
	}
	if c.From == "" {
		if a.Answers() { // on a terminal, a silent wait for lines looks like a hang
			return usageError{"name an archive, a directory or a file, or - for standard input; --from=all, or " + toolNames("or") + ", brings the history of other tools"}
		}
		c.From = "-"
	}
	p, err := a.projects(where(c.local))
	if err != nil {
		return err
	}
	slug, err := where(c.local).slug(a, p, true)
	if err != nil {
		return err
	}
	project := filepath.Join(p.Dir(), slug)
	_, missing := os.Lstat(project)
	st, err := p.Store(slug)
	if err != nil {
		return err
	}
	id := c.As
	if c.New {
		id = sessionstore.NewID()
	}
	res, err := c.read(a, st, id)
	if err != nil && errors.Is(missing, fs.ErrNotExist) {
		removeEmpty(project)
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("there is such a session already: --new gives this one a fresh id (%w)", err)
	}
	if err != nil {
		return err
	}
	made := target{st, res.ID}.noted()
	if c.From != "-" {
		made.Source = absolute(c.From)
	}
	a.changed("import", "archive", made)
	if res.Damage != nil {
		a.Notef("%s the transcript came damaged, as it was: %s", a.PaintError(screen.Yellow, "note:"), screen.Lines(explain(res.Damage)))
	}
	if lost := withdrawn(res); lost != "" {
		a.Notef("%s what was approved elsewhere does not count here: %s", a.PaintError(screen.Yellow, "note:"), lost)
	}
	if id == "" && res.Was != "" && res.Was != res.ID {
		a.Notef("%s it had the id \"%.80s\", which shells, terminals or other systems could take for something else, and got a fresh one", a.PaintError(screen.Yellow, "note:"), screen.Plain(res.Was))
	}
	if a.json {
		return a.writeJSON(struct {
			ID       string `json:"session_id"`
			Was      string `json:"imported_from"`
			Path     string `json:"path"`
			Messages int    `json:"messages"`
			Files    int    `json:"files"`
			Bytes    int64  `json:"bytes"`
			Damaged  bool   `json:"damaged"`
			Asked    int    `json:"approvals_asked_again"`
			Dropped  int    `json:"commands_dropped"`
			Kept     bool   `json:"kept_local"`
		}{res.ID, res.Was, filepath.Join(st.Dir(), res.ID), res.Messages, res.Files, res.Bytes, res.Damage != nil, res.AskedAgain, res.CommandsDropped, res.Kept})
	}
	a.Printf("%s Imported session: %s\n", a.Paint(screen.Green, "✓"), screen.Plain(res.ID))
	a.Printf("  %s in %s (%s)\n", count(res.Messages, "message"), count(res.Files, "file"), size(res.Bytes))
	if res.Kept {
		a.Printf("  It stays on this machine, as it did where it comes from; \"sessions remote keep-local %s --release\" ends that\n", word(res.ID))
	}
	return nil
}

// withdrawn returns the number of approvals that an import did not bring, "" for none.
func withdrawn(res archive.Imported) string {
	var parts []string
	if res.AskedAgain > 0 {
		parts = append(parts, count(res.AskedAgain, "approval")+" to be given again")
	}
	if res.CommandsDropped > 0 {
		parts = append(parts, count(res.CommandsDropped, "approved command")+" dropped")
	}
	return strings.Join(parts, ", ")
}

// removeEmpty removes a project that this command made in vain: its directories and
// the locks of sessions that are not there. What else is in it stays, with the
// directories above: another program may have begun to use the project.
func removeEmpty(project string) {
	var dirs []string
	_ = filepath.WalkDir(project, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case e.IsDir():
			dirs = append(dirs, path)
		case strings.HasSuffix(path, ".metadata.lock"):
			_ = os.Remove(path)
		}
		return nil
	})
	for _, dir := range slices.Backward(dirs) {
		_ = os.Remove(dir) // fails while the directory has an entry
	}
}

// read makes a session of the directory, the file or the standard input that c.From names.
func (c *importCommand) read(a *app, st *sessionstore.Store, id string) (archive.Imported, error) {
	opts := &archive.ReadOptions{ID: id, Name: c.Name, MaxSessions: 1}
	if c.From != "-" && isDir(c.From) {
		res, err := archive.ReadDir(a.ctx, c.From, st, opts)
		return res, c.named(err)
	}
	in := a.stdin
	if c.From != "-" {
		f, err := os.Open(c.From)
		if err != nil {
			return archive.Imported{}, err
		}
		defer f.Close()
		in = f
	} else {
		buffered := bufio.NewReader(in)
		if _, err := buffered.Peek(1); errors.Is(err, io.EOF) { // as after a command that failed
			return archive.Imported{}, errors.New("standard input is empty: there is nothing to import")
		}
		in = buffered
	}
	all, err := archive.Read(a.ctx, in, st, opts)
	if err != nil {
		return archive.Imported{}, c.named(err)
	}
	return all[0], nil
}

// named adds to an error the file or directory that it is about.
func (c *importCommand) named(err error) error {
	if err == nil || c.From == "-" {
		return err
	}
	return fmt.Errorf("%s: %w", screen.Plain(c.From), err)
}
