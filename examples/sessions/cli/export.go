package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/export"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/intake"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
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
	if err := writeNew(c.Output, func(w io.Writer) error { return c.write(a, t, form, w) }); err != nil {
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

// writeNew makes the file name, which appears whole or not at all; of one that
// cannot be finished because what is exported is damaged, what can be read
// stays.
func writeNew(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already", name)
	}
	if err != nil {
		return err
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil && !errors.Is(err, sessionstore.ErrCorrupt) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

type importCommand struct {
	From string `arg:"" default:"-" help:"An archive (.tar, .tar.gz), a session's directory, or JSONL; - is standard input."`
	local
	As   string `xor:"id" placeholder:"ID" help:"Id of the new session (default: the one that it had, for JSONL a fresh one)."`
	New  bool   `help:"Give it a fresh id." xor:"id"`
	Name string `placeholder:"NAME" help:"Name of the new session."`
}

// Help is shown below the usage.
func (importCommand) Help() string {
	return `The session appears whole in the project of the working directory, or not at all, and never in the place of another one. Files keep their bytes and times.

    sessions import 8f14.tar
    sessions export 8f14 --to=jsonl | sessions import --name "a copy" -`
}

// Run imports.
func (c *importCommand) Run(a *app) error {
	p, err := a.projects(where(c.local))
	if err != nil {
		return err
	}
	slug, err := where(c.local).slug(p.Dir(), true)
	if err != nil {
		return err
	}
	src, done, err := c.source(a)
	if err != nil {
		return err
	}
	st, err := p.Store(slug)
	if err != nil {
		return errors.Join(err, done())
	}
	id := c.As
	if c.New {
		id = sessionstore.NewID()
	}
	res, err := intake.Take(a.ctx, st, src, intake.Options{ID: id, Name: c.Name})
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("there is such a session already: --new gives this one a fresh id (%w)", err)
	}
	if err = errors.Join(err, done()); err != nil {
		return err
	}
	if res.Damage != nil {
		a.Notef("%s the transcript came damaged, as it was: %s", a.PaintError(screen.Yellow, "note:"), screen.Lines(explain(res.Damage)))
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
		}{res.ID, res.Was, filepath.Join(st.Dir(), res.ID), res.Messages, res.Files, res.Bytes, res.Damage != nil}, jsonIndent)
	}
	a.Printf("%s Imported session: %s\n", a.Paint(screen.Green, "✓"), screen.Plain(res.ID))
	a.Printf("  %s in %s (%s)\n", count(res.Messages, "message"), count(res.Files, "file"), size(res.Bytes))
	return nil
}

// source opens what is imported.
func (c *importCommand) source(a *app) (src intake.Source, done func() error, err error) {
	done = func() error { return nil }
	if c.From == "-" {
		src, err = intake.Stream(contextReader{a.ctx, a.stdin})
		return src, done, err
	}
	if isDir(c.From) {
		path, err := filepath.Abs(c.From)
		return intake.Directory(path), done, err
	}
	f, err := os.Open(c.From)
	if err != nil {
		return src, done, err
	}
	if src, err = intake.Stream(contextReader{a.ctx, f}); err != nil {
		return src, done, errors.Join(fmt.Errorf("%s: %w", c.From, err), f.Close())
	}
	return src, f.Close, nil
}

// contextReader ends with its context.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}
