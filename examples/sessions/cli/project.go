package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// existing is slug that fails when w names a project that is not there:
// neither a project of that name, nor a directory that could have sessions.
func (w where) existing(a *app, p *sessionstore.Projects, here bool) (string, error) {
	slug, err := w.slug(p.Dir(), here)
	if err != nil || w.Project == "" || isDir(filepath.Join(p.Dir(), slug)) || isDir(w.Project) {
		return slug, err
	}
	all, err := p.Slugs(a.ctx)
	if err != nil {
		return "", err
	}
	return "", noProjectError{w.Project, p.Dir(), like(all, slug)}
}

// like returns the one project whose name holds the words of name, or "".
func like(all []string, name string) string {
	name = strings.ToLower(strings.Trim(name, "-"))
	similar := slices.DeleteFunc(slices.Clone(all), func(slug string) bool {
		return name == "" || !strings.Contains(strings.ToLower(slug), name)
	})
	if len(similar) == 1 {
		return similar[0]
	}
	return ""
}

// noProjectError tells that a project that was named does not exist.
type noProjectError struct{ name, root, similar string }

func (e noProjectError) Error() string {
	text := fmt.Sprintf("no project %s in %s", screen.Plain(e.name), screen.Plain(e.root))
	if e.similar != "" {
		return text + "; did you mean --project=" + screen.Plain(e.similar) + "?"
	}
	return text + `; "sessions list --all-projects" shows which there are`
}

// noRootError tells that the directory of projects that was named does not exist.
type noRootError struct{ dir string }

func (e noRootError) Error() string {
	return "no directory " + screen.Plain(e.dir) + " for --sessions-root; without it, ~/.amplifier/projects is meant"
}

// nothingHere tells that the project of the working directory, or the one that is
// named, has no sessions, and where there are some.
func (l local) nothingHere(a *app) error {
	p, err := a.known(where(l))
	if err != nil {
		return err
	}
	slug, err := where(l).slug(p.Dir(), true)
	if err != nil {
		return err
	}
	all, err := p.Slugs(a.ctx)
	if err != nil {
		return err
	}
	text := "No sessions found in project " + screen.Plain(slug) + "."
	if other := len(all); other > 0 {
		text += fmt.Sprintf(` "sessions list --all-projects" shows those of %s.`, count(other, "project"))
	}
	return referenceError(text)
}
