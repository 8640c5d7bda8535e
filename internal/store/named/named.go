// Package named finds what the arguments of a call of a tool name: files and commands. It is
// pure: whether a file exists does not matter.
package named

import (
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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

var (
	ofFile    = regexp.MustCompile(`(?i)(path|file|file_?name|uri)s?$`) // the name of an argument
	ofCommand = regexp.MustCompile(`(?i)^(commands?|cmd|script)$`)
	changed   = regexp.MustCompile(`(?m)^\*\*\* (?:(?:Update|Add|Delete) File|Move to): (.+)$`) // in a patch
	between   = regexp.MustCompile("[\\s'\"`;|&<>()=,:]+")                                      // words of a command
)

// In yields each text in the arguments of a call with its kind: by the name of the argument,
// and in a patch the files that it changes. Arguments that are no JSON are a command.
func In(arguments []byte) iter.Seq2[string, Kind] {
	return func(yield func(string, Kind) bool) {
		if pyjson.Check(arguments, pyjson.Tolerant) != nil {
			yield(string(arguments), Command)
			return
		}
		walk(pyjson.Trim(arguments), Other, yield)
	}
}

// walk yields the texts of a value of that kind, and reports whether to go on.
func walk(value []byte, kind Kind, yield func(string, Kind) bool) bool {
	text := pyjson.Text(value) // "" where it is no string
	switch pyjson.KindOf(value) {
	case pyjson.Array:
		for v := range pyjson.Elements(value) {
			if kind == Command && pyjson.KindOf(v) == pyjson.String {
				text += pyjson.Text(v) + " "
			} else if !walk(v, kind, yield) {
				return false
			}
		}
	case pyjson.Object:
		for m := range pyjson.Members(value) {
			kind, name := Other, pyjson.Text(m.Key)
			if ofCommand.MatchString(name) {
				kind = Command
			} else if ofFile.MatchString(name) {
				kind = File
			}
			if !walk(m.Value, kind, yield) {
				return false
			}
		}
	}
	if strings.Contains(text, "*** Begin Patch") {
		for _, change := range changed.FindAllStringSubmatch(text, -1) {
			if !yield(strings.TrimSpace(change[1]), File) {
				return false
			}
		}
	}
	return text == "" || yield(text, kind)
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
	isPath := func(text string) bool { return resolve(dir, text) == path }
	for text, kind := range In(arguments) {
		switch {
		case kind == Command:
			guess = guess || slices.ContainsFunc(between.Split(text, -1), isPath)
		case strings.Contains(text, "\n") || !isPath(text): // no search for it in the text of files
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
		return nfc.String(filepath.Clean(path))
	case dir == "" || path == "":
		return ""
	}
	return nfc.String(filepath.Join(dir, path))
}
