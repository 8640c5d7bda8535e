package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// explain returns the text of an error: the Python tools' where they have one
// for it.
func explain(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	corrupt := (*sessionstore.CorruptError)(nil)
	if errors.As(err, &corrupt) && corrupt.Line > 0 && corrupt.Malformed() {
		return fmt.Sprintf("Malformed JSON at line %d: %v", corrupt.Line, corrupt.Err)
	}
	if config, failed := account(); failed == nil {
		err = refused(err, config)
	}
	own := (*sessionstore.Error)(nil)
	if errors.As(err, &own) && errors.Is(own.Err, sessionstore.ErrNotFound) {
		return own.Err.Error()
	}
	if errors.Is(err, hybrid.ErrUnauthorized) && !errors.Is(err, errNoRole) {
		return err.Error() + "; " + errNoRole.Error()
	}
	return err.Error()
}

// warn notes what could not be read while the rest was: each session in a line, or all in
// one line if they are more than a few. Where that is more than damage inside of a file,
// the exit code will be 1.
func (a *app) warn(err error) {
	const few = 3
	seen := map[string]bool{}
	var names, texts []string
	for _, err := range each(err) {
		a.unread = a.unread || !readable(err)
		name, dir, text := skipped(err)
		key := name + "\x00" + dir
		if seen[key] || seen[name+"\x00"] || dir == "" && seen[name] { // an error without a path is of any project
			continue
		}
		seen[key], seen[name] = true, true
		names, texts = append(names, name), append(texts, text)
	}
	if len(names) > few {
		a.skip(number(len(names))+" that cannot be read: "+shortList(names), " (sessions verify)")
		return
	}
	for i, text := range texts {
		hint := ""
		if names[i] != text {
			hint = " (sessions verify " + screen.Plain(names[i]) + ")"
		}
		a.skip(text, hint)
	}
}

// skip writes a note of one line about what was skipped. On a terminal it cuts the text,
// and never the hint.
func (a *app) skip(text, hint string) {
	const head = "skipped:"
	text = screen.Fit(screen.Plain(text), max(a.NoteWidth()-len(head)-1-screen.Columns(hint), shortID))
	a.Notef("%s %s%s", a.PaintError(screen.Yellow, head), text, hint)
}

// skipped returns the name and the directory of the session that an error is about, as
// far as the error has them, and the reason. An error about no session has its text as
// name.
func skipped(err error) (name, dir, text string) {
	text = explain(err)
	own, corrupt, system := (*sessionstore.Error)(nil), (*sessionstore.CorruptError)(nil), (*fs.PathError)(nil)
	if !errors.As(err, &own) || own.Session == "" {
		return text, "", text
	}
	if text == err.Error() {
		text = own.Err.Error()
	}
	path := ""
	switch {
	case errors.As(err, &corrupt):
		path = corrupt.Path
	case errors.As(err, &system):
		path = system.Path
	}
	const separator = string(filepath.Separator)
	within := separator + own.Session + separator
	if at := strings.LastIndex(path+separator, within); at >= 0 {
		dir = path[:at+len(within)-1]
		text = strings.ReplaceAll(text, dir+separator, "")
	}
	return own.Session, dir, text
}

// each returns the errors that err joins.
func each(err error) (all []error) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, one := range joined.Unwrap() {
		all = append(all, each(one)...)
	}
	return all
}

// readable reports whether err tells of no session or project that cannot be read, but
// of a file that can be, and holds damage.
func readable(err error) bool {
	own, corrupt := (*sessionstore.Error)(nil), (*sessionstore.CorruptError)(nil)
	if !errors.As(err, &corrupt) {
		return !errors.As(err, &own) // else it is of a receipt of the trash or the like
	}
	if fi, err := os.Lstat(corrupt.Path); err != nil || !fi.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(corrupt.Path)
	if err == nil {
		err = f.Close()
	}
	return err == nil
}

// referenceError is an error in the Python tools' words.
type referenceError string

func (e referenceError) Error() string { return string(e) }
