// Package named finds what the arguments of a call of a tool name: files and commands. It is
// pure: whether a file exists does not matter.
package named

import (
	"iter"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/format/nfc"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Kind is what a text in the arguments of a call is.
type Kind uint8

// The kinds of texts.
const (
	Other   Kind = iota // anything, which may be the path of a file
	File                // the path of a file
	Command             // a command line
)

// In yields each text in the arguments of a call with its kind: by the name of the argument,
// and in a patch the files that it changes. Arguments that are no JSON are a command.
func In(arguments []byte) iter.Seq2[string, Kind] {
	return func(yield func(string, Kind) bool) {
		if pyjson.Check(arguments, pyjson.Tolerant) != nil {
			yieldText(string(arguments), Command, yield)
			return
		}
		walk(pyjson.Trim(arguments), Other, yield)
	}
}

// walk yields the texts of a value of that kind, and reports whether to go on.
func walk(value []byte, kind Kind, yield func(string, Kind) bool) bool {
	switch pyjson.KindOf(value) {
	case pyjson.String:
		return yieldText(pyjson.Text(value), kind, yield)
	case pyjson.Array:
		var words []string
		for v := range pyjson.Elements(value) {
			if kind == Command && pyjson.KindOf(v) == pyjson.String {
				words = append(words, pyjson.Text(v))
			} else if !walk(v, kind, yield) {
				return false
			}
		}
		return len(words) == 0 || yieldText(strings.Join(words, " "), Command, yield)
	case pyjson.Object:
		for m := range pyjson.Members(value) {
			if !walk(m.Value, kindOf(pyjson.Text(m.Key)), yield) {
				return false
			}
		}
	}
	return true
}

// kindOf returns the kind of an argument by its name.
func kindOf(name string) Kind {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	switch name {
	case "command", "commands", "cmd", "script":
		return Command
	case "profile":
		return Other
	}
	for _, end := range []string{"path", "paths", "file", "files", "filename", "uri"} {
		if strings.HasSuffix(name, end) {
			return File
		}
	}
	return Other
}

// changes are what the lines of a patch begin with that name a file.
var changes = []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "}

func yieldText(text string, kind Kind, yield func(string, Kind) bool) bool {
	if kind == File && strings.Contains(text, "\n") {
		kind = Other
	}
	if strings.Contains(text, "*** Begin Patch") {
		for line := range strings.Lines(text) {
			for _, change := range changes {
				if path, ok := strings.CutPrefix(line, change); ok && !yield(strings.TrimSpace(path), File) {
					return false
				}
			}
		}
	}
	return yield(text, kind)
}

// Names reports whether the arguments of a call in the directory dir name the file at path,
// which is absolute and cleaned. A guess is a path in a command line, or a relative one that
// is an argument of another kind.
func Names(arguments []byte, dir, path string) (found, guess bool) {
	if object := pyjson.Trim(arguments); pyjson.KindOf(object) == pyjson.Object && pyjson.Check(object, pyjson.Tolerant) == nil {
		for _, raw := range pyjson.Values(object, "workdir", "cwd") {
			if text := pyjson.Text(raw); text != "" {
				dir = resolve(dir, text)
			}
		}
	}
	path = nfc.String(path)
	for text, kind := range In(arguments) {
		text = nfc.String(text)
		switch {
		case kind == Command:
			guess = guess || mentions(text, dir, path)
		case resolve(dir, text) != path:
		case kind == File || filepath.IsAbs(text):
			return true, false
		default:
			guess = true
		}
	}
	return guess, guess
}

// resolve returns an absolute path, "" where the directory of a relative one is unknown.
func resolve(dir, path string) string {
	path = strings.TrimPrefix(path, "file://")
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case dir == "" || path == "":
		return ""
	}
	return filepath.Join(nfc.String(dir), path)
}

// mentions reports whether a command line in the directory dir holds a path, absolute or
// relative.
func mentions(command, dir, path string) bool {
	forms := []string{path}
	if short, err := filepath.Rel(dir, path); err == nil && dir != "" {
		forms = append(forms, short)
	}
	for _, form := range forms {
		for rest := command; ; {
			before, after, found := strings.Cut(rest, form)
			if !found {
				break
			}
			before = strings.TrimSuffix(command[:len(command)-len(after)-len(form)], "./")
			last, _ := utf8.DecodeLastRuneInString(before)
			next, size := utf8.DecodeRuneInString(after)
			if next == '.' {
				next, _ = utf8.DecodeRuneInString(after[size:])
			}
			if !inPath(last) && last != '.' && !inPath(next) {
				return true
			}
			rest = after
		}
	}
	return false
}

// inPath reports whether a path goes on with r.
func inPath(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-/\\~", r))
}
