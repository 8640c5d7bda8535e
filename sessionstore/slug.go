package sessionstore

import (
	"os"
	"path/filepath"
	"strings"
)

// ProjectSlug returns the name of the project directory for a project in the
// directory path, which is absolute and free of symlinks: slashes and
// backslashes become dashes, colons vanish, and a dash stands in front. It is
// not injective: /a/b-c and /a-b/c have one slug.
func ProjectSlug(path string) string {
	slug := strings.NewReplacer("/", "-", `\`, "-", ":", "").Replace(path)
	if !strings.HasPrefix(slug, "-") {
		return "-" + slug
	}
	return slug
}

// DefaultDir returns the sessions directory of the project whose working
// directory is cwd: projects/<slug>/sessions in $AMPLIFIER_HOME, or in
// ~/.amplifier where that is not set. Symlinks in cwd are resolved first, so
// cwd must exist.
func DefaultDir(cwd string) (string, error) {
	abs, err := filepath.Abs(cwd)
	if err != nil {
		return "", wrap("find project of", "", err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", wrap("find project of", "", err)
	}
	projects, err := projectsDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(projects, ProjectSlug(resolved), "sessions"), nil
}

// projectsDir returns the directory of projects. As the newer tools do, it
// takes $AMPLIFIER_HOME, expands a leading ~, and resolves symlinks as far as
// the path exists.
func projectsDir() (string, error) {
	home := os.Getenv("AMPLIFIER_HOME")
	if home == "" {
		home = "~/.amplifier"
	}
	if home == "~" || strings.HasPrefix(home, "~/") || strings.HasPrefix(home, `~\`) {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", wrap("find home directory", "", err)
		}
		home = filepath.Join(user, home[1:])
	}
	abs, err := filepath.Abs(home)
	if err != nil {
		return "", wrap("find home directory", "", err)
	}
	return filepath.Join(resolveExisting(abs), "projects"), nil
}

// resolveExisting resolves the symlinks of the longest part of path that
// exists and keeps the rest.
func resolveExisting(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolveExisting(parent), filepath.Base(path))
}
