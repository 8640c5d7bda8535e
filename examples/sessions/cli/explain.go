package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/hybrid/redact"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// explain returns the text of an error, in the words of the Python tools where they
// have a text for it.
func explain(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if errors.Is(err, sessionstore.ErrLocked) {
		return err.Error() + "; end that program, or try again when it is done"
	}
	corrupt := (*sessionstore.CorruptError)(nil)
	if errors.As(err, &corrupt) && corrupt.Line > 0 && corrupt.Malformed() {
		return fmt.Sprintf("Malformed JSON at line %d: %v", corrupt.Line, corrupt.Err)
	}
	own := (*sessionstore.Error)(nil)
	if errors.As(err, &own) && errors.Is(own.Err, sessionstore.ErrNotFound) {
		return own.Err.Error()
	}
	return libraryWords.Replace(err.Error())
}

// libraryWords takes names of the library's calls and options out of its errors.
var libraryWords = strings.NewReplacer(
	"sessionstore.Options.SingleWriter goes", "--single-writer goes", ", or set Options.Device", "", ", until Remove removes it", "",
	"; release it (Store.Release; sessions remote keep-local --release)", "", ", or release it (Store.Release; sessions remote keep-local --release)", "",
)

// warn notes the sessions and projects that could not be read while the rest was, in one line
// for all. The exit code will be 1 if
// one of them is not [readable].
func (a *app) warn(err error) {
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
	if len(names) > 1 {
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

// skip writes a note of one line about something that was skipped. On a terminal it cuts
// the text, and never the hint.
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

// readable reports whether err leaves its session or project readable: it is about damage
// in a file that can be opened, or about no session or project at all.
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

type secretsCommand struct {
	anywhere
}

// Help is shown below the usage.
func (secretsCommand) Help() string {
	return `Lists the secrets in a transcript by line and kind, and never shows one. What is listed is what "sessions export --redact" replaces: tokens by their shape, values by names as API_KEY or password, and the values of this environment's own secrets. A password that looks like a word, or that is told in prose, is not found.

The exit code is 0 when there is none, and 1 when there are some or the transcript cannot be read to its end.

    sessions secrets 8f14
    sessions secrets 8f14 --json | jq -r '.secrets[].kind' | sort | uniq -c`
}

// finding is a secret in a transcript.
type finding struct {
	Line int    `json:"line"`
	Role string `json:"role"`
	Kind string `json:"kind"`
}

// secretRules are the rules by which the tool finds secrets.
func secretRules() *redact.Finder { return redact.Secrets().WithEnviron(os.Environ()) }

// Run lists.
func (c *secretsCommand) Run(a *app) error {
	t, err := c.reach(a)
	if err != nil {
		return err
	}
	found, damage := findings(a, t)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return damage
	}
	err = a.answer(object{{"session_id", t.id}, {"secrets", found}}, func() { a.findingTable(found) })
	switch {
	case err != nil || damage != nil:
		return join(err, damage)
	case len(found) > 0:
		return exitCode(exitError)
	}
	return nil
}

// findings returns the secrets of a transcript. For a damaged one it returns an error
// and the secrets of the lines that can be read.
func findings(a *app, t target) ([]finding, error) {
	rules, found, number := secretRules(), []finding{}, 0
	var line []byte
	for m, err := range t.store.Messages(a.ctx, t.id) {
		if err != nil {
			return found, err
		}
		number++
		line = m.AppendTo(line[:0])
		for _, kind := range rules.Kinds(line) {
			found = append(found, finding{number, m.Role(), kind})
		}
	}
	return found, a.ctx.Err()
}

func (a *app) findingTable(found []finding) {
	if len(found) == 0 {
		a.Notef("%s No secrets found.", a.PaintError(screen.Green, "✓"))
		return
	}
	rows := make([][]string, len(found))
	lines := map[int]bool{}
	for i, f := range found {
		rows[i] = []string{strconv.Itoa(f.Line), f.Role, f.Kind}
		lines[f.Line] = true
	}
	a.Table([]screen.Column{
		{Title: "Line", Whole: true, Tint: screen.In(screen.Green)},
		{Title: "Role", Drop: 1},
		{Title: "Kind", Min: 12, Tint: screen.In(screen.Yellow)},
	}, rows)
	a.Notef("%s in %s", count(len(found), "secret"), count(len(lines), "line"))
}
