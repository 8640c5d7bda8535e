package foreign

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Tool is a program whose history can be imported.
type Tool string

// The tools.
const (
	Claude Tool = "claude" // Claude Code
	Codex  Tool = "codex"  // the Codex CLI
)

// History is one session of a tool, as its files tell.
type History struct {
	Tool     Tool
	ID       string    // the tool's own id of the session
	Path     string    // of its file
	Dir      string    // working directory that the file names first; "" where its beginning names none
	Folder   string    // name of the tool's folder for the project
	Size     int64     // of the file, in bytes
	Modified time.Time // of the file
	Agents   []string  // paths of the files of its sub-agents, those that began others before these
	Title    string    // that the tool keeps elsewhere
	Parent   string    // the tool's id of the session whose sub-agent wrote the file, where that session has none

	goesOn    []string          // the tool's ids of the sessions in which it goes on, as its end says
	origin    *History          // which goes on in this one, as a copy with an id of its own
	spawned   bool              // a sub-agent wrote it, as its beginning says
	inFolder  bool              // it has copies elsewhere, so the folder tells the project
	threadID  string            // of the thread of which this is a part: its beginning is missing
	files     fileSet           // the files that are read together
	near      *recordIndex      // the files of its folder
	summaries map[uint64]string // titles that files of its folder tell first, see facts
}

// Project returns the name of the project that the history belongs to: that of its
// working directory, with symlinks resolved where it exists, or else the tool's
// folder. A directory that tools write in several ways is one, on Windows also with
// another case of its drive and with the prefix of long paths. A directory with a name
// that no file system should have is none: with characters that a terminal obeys, or too
// long.
func (h History) Project() string {
	dir := cleanDir(h.Dir)
	if filepath.IsAbs(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
	}
	names := []string{sessionstore.ProjectSlug(dir), h.Folder}
	if h.inFolder {
		slices.Reverse(names)
	}
	for _, name := range names {
		if name != "-" && isFolder(name) {
			return name
		}
	}
	return "-imported"
}

// drive is how a path of Windows begins that names its drive.
var drive = regexp.MustCompile(`^[A-Za-z]:/`)

// cleanDir returns a directory as it is written in the shortest way, with slashes. It does
// so for paths of each system on each of them: histories move.
func cleanDir(dir string) string {
	d := dir
	if !strings.HasPrefix(d, "/") || strings.HasPrefix(d, "//?/") {
		d = strings.ReplaceAll(d, `\`, "/")
	}
	for _, prefix := range []string{"//?/", "//./", "/??/"} {
		rest, long := strings.CutPrefix(d, prefix)
		switch {
		case long && len(rest) > 4 && strings.EqualFold(rest[:4], "UNC/"):
			d = "//" + rest[4:]
		case long && drive.MatchString(rest):
			d = rest
		}
	}
	switch {
	case drive.MatchString(d):
		return strings.ToUpper(d[:1]) + ":" + path.Clean(d[2:])
	case strings.HasPrefix(d, "//") && !strings.HasPrefix(d, "///"): // a server
		return "/" + path.Clean(d[1:])
	case strings.HasPrefix(d, "/"):
		return path.Clean(d)
	}
	return dir
}

// source returns what is read for the file at path.
func (h History) source(path string) sourceFiles {
	src := sourceFiles{segments: h.files[path].segments, main: h.Path, near: h.near}
	if src.segments == nil {
		src.segments = whole(path)
	}
	return src
}

// maxFolder is how long the name of a project may be, in bytes.
const maxFolder = 240

// isFolder reports whether a name is one that a project may have.
func isFolder(name string) bool {
	if name == "" || len(name) > maxFolder || !utf8.ValidString(name) || strings.ContainsAny(name, `/\`) {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) })
}

// historySuffix is what the names of the tools' files end with.
const historySuffix = ".jsonl"

// FindOptions control [Find]. A nil *FindOptions is the zero value.
type FindOptions struct {
	// Home is the directory of the tool. "" is what [Home] returns.
	Home string

	// Since leaves out histories that were last changed before.
	Since time.Time
}

// maxBeginning is how much of a file is read for what it says first, in bytes.
const maxBeginning = 1 << 20

// sourceFiles are what a session of a tool is read from.
type sourceFiles struct {
	segments []segment
	main     string       // the file of the history; "": an import kept what is read
	layout   layout       // of a file that an import kept
	near     *recordIndex // the files beside it; nil: none is known
}
