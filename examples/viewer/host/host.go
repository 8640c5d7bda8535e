// Package host names the programs that go on with a session, as amplifier does, the
// commands for that, and the directories of projects. The tool and the viewer share it.
package host

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign"
)

// Variable is the environment variable that names the program.
const Variable = "AMPLIFIER_HOST"

// Program returns the first of the names that is not empty, else "amplifier".
func Program(names ...string) string {
	return cmp.Or(cmp.Or(names...), "amplifier")
}

// ResumeLine returns the command that resumes a session in a shell, in the directory in
// which the session worked, if that is known; see [Line].
func ResumeLine(program, dir, id string) string {
	return Line(dir, Resume(program, id)...)
}

// Resume returns the words of the command that resumes a session, with flags.
func Resume(program, id string, flags ...string) []string {
	words := []string{program, "session", "resume"}
	if arg := Argument(id); len(arg) > 1 {
		return slices.Concat(words, flags, arg)
	}
	return slices.Concat(words, []string{id}, flags)
}

// Argument returns the id of a session as an argument that ends a command line: after a -- where the id
// begins with a hyphen, as that of a session that another tool made may, so that no program
// takes it for a flag.
func Argument(id string) []string {
	if strings.HasPrefix(id, "-") {
		return []string{"--", id}
	}
	return []string{id}
}

// Origin returns the tool that import made a session of, as "claude", by the session's metadata.
// It returns "" for other sessions.
func Origin(md sessionstore.Metadata) string {
	raw, _ := md.Lookup("import")
	var made struct{ Tool string }
	if json.Unmarshal(raw, &made) != nil || !slices.Contains(foreign.Tools(), foreign.Tool(made.Tool)) {
		return ""
	}
	return made.Tool
}

// Tool returns the name of a tool for people.
func Tool(tool string) string { return foreign.Tool(tool).Title() }

// OnwardLine returns the command that goes on with a session in another tool, in a shell.
func OnwardLine(dir, tool, id string) string {
	return Line(dir, slices.Concat([]string{"sessions", "resume", "--with", tool}, Argument(id))...)
}

// lookedAt limits the sessions that are asked for the directory of their project.
const lookedAt = 5

// WorkDir returns the directory of which the sessions of st are the project, as the newest of
// them name it, "" if they do not. It writes nothing.
func WorkDir(ctx context.Context, st *sessionstore.Store, project string) string {
	newest, _ := st.List(ctx, &sessionstore.ListOptions{All: true, Limit: lookedAt}) // those that could be listed
	for _, s := range newest {
		md, err := st.Metadata(ctx, s.ID)
		if dir := md.Text("working_dir"); err == nil && dir != "" && sessionstore.ProjectSlug(dir) == project {
			return dir
		}
	}
	return ""
}

// Line returns the command that runs a program in a shell, in the directory dir, if that
// is not "". The command is one line that no terminal obeys: U+FFFD replaces characters
// that are not graphic.
func Line(dir string, words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = quote(word)
	}
	line := strings.Join(quoted, " ")
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
