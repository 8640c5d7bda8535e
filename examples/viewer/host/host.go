// Package host names the program that resumes a session, as amplifier does, and the
// command for it. The tool and the viewer share it.
package host

import (
	"cmp"
	"strings"
	"unicode"
)

// Variable is the environment variable that names the program.
const Variable = "AMPLIFIER_HOST"

// Program returns the first of the names that is not empty, else "amplifier".
func Program(names ...string) string {
	return cmp.Or(cmp.Or(names...), "amplifier")
}

// ResumeLine returns the command that resumes a session in a shell, in the directory in
// which the session worked, if that is known. The command is one line that no terminal
// obeys: U+FFFD replaces characters that are not graphic.
func ResumeLine(program, dir, id string) string {
	line := quote(program) + " session resume " + quote(id)
	if dir != "" {
		line = "cd " + quote(dir) + " && " + line
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(line, "\ufffd"))
}

// quote returns a word as a shell takes it.
func quote(word string) string {
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./"
	if word != "" && strings.Trim(word, safe) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
