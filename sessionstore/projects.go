package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Projects is a directory of projects, each with its sessions directory. The
// zero Projects is one that is closed.
type Projects struct {
	dir   string
	opts  *Options
	hooks *seam.Seam // of every store

	mu     sync.Mutex // guards what follows
	closed bool
	stores map[string]*Store
}

// OpenProjects opens a directory of projects; "" is ~/.amplifier/projects,
// or projects in $AMPLIFIER_HOME. It need not exist. opts are those of every
// [Projects.Store].
func OpenProjects(dir string, opts *Options) (*Projects, error) {
	return openProjects(dir, opts, nil)
}

func openProjects(dir string, opts *Options, hooks *seam.Seam) (*Projects, error) {
	if dir == "" {
		var err error
		if dir, err = projectsDir(); err != nil {
			return nil, err
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, wrap("open projects", "", err)
	}
	if fi, err := os.Stat(dir); err == nil && !fi.IsDir() {
		return nil, wrap("open projects", "", fmt.Errorf("%s: not a directory", dir))
	}
	p := &Projects{dir: dir, hooks: hooks, stores: map[string]*Store{}}
	if opts != nil {
		own := *opts
		p.opts = &own
	}
	return p, nil
}

// Dir returns the absolute path of the directory of projects.
func (p *Projects) Dir() string { return p.dir }

// Slugs returns the names of the projects that have a sessions directory, in
// the order of their text. Those of which that cannot be told are among them, for
// lack of rights or because a symlink leads nowhere: [Projects.Store] fails with the
// reason.
func (p *Projects) Slugs(ctx context.Context) ([]string, error) {
	if err := alive(ctx); err != nil {
		return nil, wrap("list projects", "", err)
	}
	if p.dir == "" {
		return nil, wrap("list projects", "", errClosedProjects)
	}
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, wrap("list projects", "", err)
	}
	var slugs []string
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if ok, err := p.has(name); (ok || err != nil && name[0] != '.') && !vfs.OfSystem(name) {
			slugs = append(slugs, name)
		}
	}
	return slugs, nil
}

// has reports whether the project has a sessions directory. The error tells why it
// cannot be told.
func (p *Projects) has(slug string) (bool, error) {
	path := p.sessions(slug)
	fi, err := os.Stat(path)
	if err == nil {
		return fi.IsDir(), nil
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		for _, link := range []string{path, filepath.Dir(path)} {
			if fi, err := os.Lstat(link); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
				if _, err = os.Stat(link); errors.Is(err, fs.ErrNotExist) {
					return false, &fs.PathError{Op: "open", Path: link, Err: vfs.ErrLost}
				}
			}
		}
		return false, nil
	}
	return false, err
}

func (p *Projects) sessions(slug string) string { return filepath.Join(p.dir, slug, "sessions") }

// checkSlug refuses what cannot be the name of a project's directory.
func checkSlug(slug string) error {
	if slug == "" || len(slug) > maxIDBytes || strings.ContainsAny(slug, `/\`) || slug == "." || slug == ".." {
		return fmt.Errorf("invalid project name %q", shown(slug))
	}
	return nil
}

// Store returns the store of the project slug, made if needed. It is closed
// by [Projects.Close]; every call with one slug returns the same.
func (p *Projects) Store(slug string) (*Store, error) {
	if err := checkSlug(slug); err != nil {
		return nil, wrap("open project", "", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.dir == "" {
		return nil, wrap("open project", "", errClosedProjects)
	}
	if st := p.stores[slug]; st != nil {
		return st, nil
	}
	st, err := open(p.sessions(slug), p.opts, p.hooks)
	if err == nil {
		p.stores[slug] = st
	}
	return st, err
}

var errClosedProjects = limits.Errorf(ErrClosed, "the projects are closed")

// Resolve returns the directory of the session that ref means, as the
// reference's session finder does: an absolute path, an id, or the beginning
// of one, in all projects or in slug alone. Sub-sessions count; a directory
// without metadata.json does not. Space in ref is part of it. The error Is
// [ErrNotFound] or an [*AmbiguousError], or tells of a project that cannot be read
// if no other has the session.
func (p *Projects) Resolve(ctx context.Context, ref, slug string) (dir string, err error) {
	if p.dir == "" {
		return "", wrap("find", "", errClosedProjects)
	}
	if filepath.IsAbs(ref) {
		path := tidy(ref)
		if !isSession(path) {
			return "", &textError{"No valid session at path: " + limits.Path(ref), ErrNotFound}
		}
		return path, nil
	}
	slugs := []string{slug}
	if len(slug) > maxIDBytes {
		return "", wrap("find", "", checkSlug(slug))
	}
	if slug == "" {
		if slugs, err = p.Slugs(ctx); err != nil {
			return "", err
		}
	}
	var exact, partial []string
	for _, slug := range slugs {
		names, failed := namesIn(p.sessions(slug), ref)
		err = joinErrors(err, failed)
		for _, name := range names {
			path := filepath.Join(p.sessions(slug), name)
			switch {
			case !isSession(path):
			case name == ref:
				exact = append(exact, path)
			default:
				partial = append(partial, path)
			}
		}
	}
	if err != nil && len(exact)+len(partial) == 0 {
		return "", wrap("find", "", err)
	}
	return chooseMatch(ref, exact, partial)
}

// tidy returns an absolute path without repeated and trailing separators and
// without ".", as Python's Path has it: ".." stays, since it may follow a
// symlink.
func tidy(path string) string {
	volume := filepath.VolumeName(path)
	parts := strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) })
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "." })
	const separator = string(filepath.Separator)
	return volume + separator + strings.Join(parts, separator)
}

// namesIn returns the names in the directory dir that begin with prefix, in
// the order of their text, and none where there is no such directory.
func namesIn(dir, prefix string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if errors.Is(err, fs.ErrNotExist) { // it was removed just now
		err = nil
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, prefix) })
	slices.Sort(names)
	return names, joinErrors(err, f.Close())
}

// chooseMatch returns the one match, an exact one first.
func chooseMatch(ref string, exact, partial []string) (string, error) {
	kind, matches := "session ID", exact
	if len(exact) == 0 {
		kind, matches = "partial session ID", partial
	}
	switch len(matches) {
	case 0:
		return "", &textError{fmt.Sprintf("No session found matching '%s'", shown(ref)), ErrNotFound}
	case 1:
		return matches[0], nil
	}
	names := make([]string, len(matches))
	for i, m := range matches {
		names[i] = pyjson.Repr(filepath.Base(m))
	}
	text := fmt.Sprintf("Ambiguous %s '%s': matched [%s]", kind, shown(ref), strings.Join(names, ", "))
	return "", &AmbiguousError{Prefix: ref, Matches: matches, text: text}
}

func isSession(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "metadata.json"))
	return err == nil
}

// Close closes the stores that were handed out.
func (p *Projects) Close() error {
	p.mu.Lock()
	p.closed = true
	stores := p.stores
	p.stores = nil
	p.mu.Unlock()
	var errs []error
	for _, slug := range slices.Sorted(maps.Keys(stores)) {
		errs = append(errs, stores[slug].Close())
	}
	return errors.Join(errs...)
}
