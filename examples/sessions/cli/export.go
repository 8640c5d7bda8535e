package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/export"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

type exportCommand struct {
	anywhere
	To          string `enum:",md,html,jsonl,tar" default:"" placeholder:"FORM" help:"md, html, jsonl or tar (default: as --output ends, else md)." group:"Output"`
	Output      string `short:"o" placeholder:"FILE" help:"Write this file, which must not be there; default: standard output." group:"Output"`
	Redact      bool   `help:"Replace what looks like a secret: tokens, private keys, connection strings, bearer headers."`
	NoTools     bool   `help:"Leave out the calls of tools and their results (md and html)."`
	NoThinking  bool   `help:"Leave out what the model thought (md and html)."`
	NoReminders bool   `help:"Leave out what tools wrote in the user's name (md and html)."`
}

// Help is shown below the usage.
func (exportCommand) Help() string {
	return `md and html are for people, jsonl is the exact lines of the transcript, and tar all files of the session: "sessions import" makes a session of the last two again. The session itself never changes; secrets are found by their shape, so look before you publish.

    sessions export 8f14 -o talk.html --redact
    sessions export 8f14 --to=jsonl | jq -r .role
    sessions export 8f14 -o 8f14.tar`
}

// Run exports.
func (c *exportCommand) Run(a *app) error {
	form := c.To
	if form == "" {
		form = formOf(c.Output)
	}
	if form == "tar" && c.Output == "" && a.Terminal() {
		return usageError{"an archive is not for a terminal: add -o FILE"}
	}
	t, err := c.reach(a)
	if err != nil {
		return err
	}
	if c.Output == "" && form == "jsonl" && a.Terminal() {
		screen := &forTerminal{a: a, most: max(a.Width(), 40)}
		err := c.write(a, t, form, screen)
		if screen.cut {
			a.Notef("Long lines are cut; a pipe gets them whole.")
		}
		return err
	}
	if c.Output == "" {
		return c.write(a, t, form, a)
	}
	if err := writeNew(c.Output, a.now(), func(w io.Writer) error { return c.write(a, t, form, w) }); err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(object{{"session_id", quoted(t.id)}, {"format", quoted(form)}, {"path", quoted(c.Output)}}, jsonIndent)
	}
	a.Notef("%s Exported %s to %s", a.PaintError(screen.Green, "✓"), screen.Plain(t.id), screen.Plain(c.Output))
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

// write writes a session. What is damaged is written as far as it can be read,
// and then it is an error.
func (c *exportCommand) write(a *app, t target, form string, w io.Writer) error {
	var r export.Redactor
	if c.Redact {
		r = hybrid.Secrets()
	}
	switch form {
	case "jsonl":
		return export.Lines(a.ctx, t.store, t.id, w, r)
	case "tar":
		return export.Archive(a.ctx, t.store, t.id, w, r)
	}
	s, damage := t.store.Load(a.ctx, t.id)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return damage
	}
	d, err := export.New(s, damage, export.Parts{NoTools: c.NoTools, NoThinking: c.NoThinking, NoReminders: c.NoReminders}, r)
	if err != nil {
		return err
	}
	show := d.Markdown
	if form == "html" {
		show = d.HTML
	}
	if err := show(w); err != nil {
		return err
	}
	return damage
}

// forTerminal writes lines to a terminal: none longer than so many columns, and
// nothing in them that a terminal would obey.
type forTerminal struct {
	a    *app
	most int
	line []byte
	cut  bool
}

func (t *forTerminal) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		if room := 8*t.most - len(t.line); room > 0 { // no more of it is shown
			t.line = append(t.line, line[:min(room, len(line))]...)
		}
		if line[len(line)-1] != '\n' {
			continue
		}
		whole := screen.Plain(strings.ToValidUTF8(strings.TrimRight(string(t.line), "\n"), "\ufffd"))
		text := screen.Fit(whole, t.most)
		t.cut = t.cut || text != whole
		t.a.Print(text + "\n")
		t.line = t.line[:0]
	}
	return len(b), nil
}

// writeNew makes the file name, for its owner alone. It appears whole or not at
// all; when what is exported is damaged, that is what can be read of it.
func writeNew(name string, now time.Time, write func(io.Writer) error) (err error) {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s is there already", name)
		}
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	dir := atomicfile.New(root, nil)
	defer func() { err = errors.Join(err, dir.Close()) }()
	damage := error(nil)
	err = dir.Replace(filepath.Base(name), true, now, func(w io.Writer) error {
		err := write(w)
		if errors.Is(err, sessionstore.ErrCorrupt) {
			damage, err = err, nil
		}
		return err
	})
	return errors.Join(err, damage)
}
