package foreign

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// projectName returns the name of the project that a history belongs to: the project of its
// working directory, with symlinks resolved where it exists, or else the tool's folder,
// which comes first where InFolder is set.
func projectName(dir, folder string, inFolder bool) string {
	dir = cleanDir(dir)
	if filepath.IsAbs(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
	}
	names := []string{sessionstore.ProjectSlug(dir), folder}
	if inFolder {
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

// maxFolder is how long the name of a project may be, in bytes.
const maxFolder = 240

// isFolder reports whether a project may have that name.
func isFolder(name string) bool {
	if name == "" || len(name) > maxFolder || !utf8.ValidString(name) || strings.ContainsAny(name, `/\`) {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) })
}

// projectWith returns the name of a project that has the session id, "" for none. It lists the
// projects only where none of those named first has it.
func projectWith(p *projects.Projects, id string, first ...string) (string, error) {
	var failed error
	for i, slugs := 0, first; ; i++ {
		if i == len(first) {
			all, err := os.ReadDir(p.Dir())
			if !errors.Is(err, fs.ErrNotExist) {
				failed = err
			}
			for _, e := range all {
				slugs = append(slugs, e.Name())
			}
		}
		if i == len(slugs) {
			return "", failed
		}
		if fi, err := os.Lstat(filepath.Join(p.Dir(), slugs[i], "sessions", id)); err == nil && fi.IsDir() {
			return slugs[i], nil
		}
	}
}

// projectOf returns the name of the project that a history comes into, whose session has
// the id. A session that was imported before stays in its project.
func projectOf(p *projects.Projects, h thread.History, id, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	slug := projectName(h.Dir, h.Folder, h.InFolder)
	has, err := projectWith(p, id, slug)
	return cmp.Or(has, slug), err
}

// storeThere returns the store of a project, nil where there is none yet.
func storeThere(ctx context.Context, p *projects.Projects, slug string) (*sessionstore.Store, error) {
	slugs, err := p.Slugs(ctx)
	if err != nil || !slices.Contains(slugs, slug) {
		return nil, err
	}
	return p.Store(slug)
}
