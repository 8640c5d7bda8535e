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
	"unicode"
)

// Projects is a directory of projects, each with its sessions directory.
type Projects struct {
	dir  string
	opts *Options

	mu     sync.Mutex // guards what follows
	closed bool
	stores map[string]*Store
}

// OpenProjects opens a directory of projects; "" is ~/.amplifier/projects,
// or projects in $AMPLIFIER_HOME. It need not exist. opts are those of every
// [Projects.Store].
func OpenProjects(dir string, opts *Options) (*Projects, error) {
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
	p := &Projects{dir: dir, stores: map[string]*Store{}}
	if opts != nil {
		own := *opts
		p.opts = &own
	}
	return p, nil
}

// Slugs returns the names of the projects that have a sessions directory, in
// the order of their text.
func (p *Projects) Slugs(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap("list projects", "", err)
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
		if fi, err := os.Stat(p.sessions(e.Name())); err == nil && fi.IsDir() {
			slugs = append(slugs, e.Name())
		}
	}
	return slugs, nil
}

func (p *Projects) sessions(slug string) string { return filepath.Join(p.dir, slug, "sessions") }

// Store returns the store of the project slug, made if needed. It is closed
// by [Projects.Close]; every call with one slug returns the same.
func (p *Projects) Store(slug string) (*Store, error) {
	if slug == "" || strings.ContainsAny(slug, `/\`) || slug == "." || slug == ".." {
		return nil, wrap("open project", "", fmt.Errorf("invalid project name %q", slug))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, wrap("open project", "", ErrClosed)
	}
	if st := p.stores[slug]; st != nil {
		return st, nil
	}
	st, err := Open(p.sessions(slug), p.opts)
	if err == nil {
		p.stores[slug] = st
	}
	return st, err
}

// Resolve returns the directory of the session that ref means, as the
// reference's session finder does: an absolute path, an id, or the beginning
// of one, in all projects or in slug alone. Sub-sessions count; a directory
// without metadata.json does not. Space in ref is part of it. The error Is
// [ErrNotFound] or an [*AmbiguousError].
func (p *Projects) Resolve(ctx context.Context, ref, slug string) (dir string, err error) {
	if filepath.IsAbs(ref) {
		for len(ref) > len(filepath.VolumeName(ref))+1 && os.IsPathSeparator(ref[len(ref)-1]) {
			ref = ref[:len(ref)-1]
		}
		if !isSession(ref) {
			return "", &textError{"No valid session at path: " + ref, ErrNotFound}
		}
		return ref, nil
	}
	slugs := []string{slug}
	if slug == "" {
		if slugs, err = p.Slugs(ctx); err != nil {
			return "", err
		}
	}
	var exact, partial []string
	for _, slug := range slugs {
		entries, err := os.ReadDir(p.sessions(slug))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", wrap("find", "", err)
		}
		for _, e := range entries {
			path := filepath.Join(p.sessions(slug), e.Name())
			switch {
			case !strings.HasPrefix(e.Name(), ref) || !isSession(path):
			case e.Name() == ref:
				exact = append(exact, path)
			default:
				partial = append(partial, path)
			}
		}
	}
	return chooseMatch(ref, exact, partial)
}

// chooseMatch returns the one match, an exact one first.
func chooseMatch(ref string, exact, partial []string) (string, error) {
	kind, matches := "session ID", exact
	if len(exact) == 0 {
		kind, matches = "partial session ID", partial
	}
	switch len(matches) {
	case 0:
		return "", &textError{fmt.Sprintf("No session found matching '%s'", ref), ErrNotFound}
	case 1:
		return matches[0], nil
	}
	names := make([]string, len(matches))
	for i, m := range matches {
		names[i] = quoted(filepath.Base(m))
	}
	text := fmt.Sprintf("Ambiguous %s '%s': matched [%s]", kind, ref, strings.Join(names, ", "))
	return "", &AmbiguousError{Prefix: ref, Matches: matches, text: text}
}

// quoted puts a name in quotes as Python's repr does.
func quoted(name string) string {
	quote := "'"
	if strings.Contains(name, "'") && !strings.Contains(name, `"`) {
		quote = `"`
	}
	text := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, quote, `\`+quote).Replace(name)
	var b strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return quote + b.String() + quote
}

func isSession(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "metadata.json"))
	return err == nil
}

// Close closes the stores that were handed out.
func (p *Projects) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for _, slug := range slices.Sorted(maps.Keys(p.stores)) {
		errs = append(errs, p.stores[slug].Close())
	}
	return errors.Join(errs...)
}
