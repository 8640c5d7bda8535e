package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/intake"
	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

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
