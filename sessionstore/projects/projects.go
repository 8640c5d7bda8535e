package projects

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Projects is a directory of projects, each with its sessions directory. The zero
// Projects is closed.
type Projects struct {
	dir   string
	opts  *sessionstore.Options
	hooks *seam.Seam // of every store

	mu     sync.Mutex // guards the fields below
	closed bool
	stores map[string]*sessionstore.Store
}

// Open opens a directory of projects; "" is ~/.amplifier/projects, or projects in
// $AMPLIFIER_HOME. It need not exist. opts are the options of every [Projects.Store].
func Open(dir string, opts *sessionstore.Options) (*Projects, error) {
	return open(dir, opts, nil)
}

func open(dir string, opts *sessionstore.Options, hooks *seam.Seam) (*Projects, error) {
	if dir == "" {
		sessions, err := sessionstore.DefaultDir(string(filepath.Separator))
		if err != nil {
			return nil, err
		}
		dir = filepath.Dir(filepath.Dir(sessions))
	}
	dir, err := sessiondir.Abs(dir)
	if err != nil {
		return nil, core.Wrap("open projects", "", err)
	}
	if fi, err := os.Stat(dir); err == nil && !fi.IsDir() {
		return nil, core.Wrap("open projects", "", fmt.Errorf("%s: not a directory", dir))
	}
	p := &Projects{dir: dir, hooks: hooks, stores: map[string]*sessionstore.Store{}}
	if opts != nil {
		own := *opts
		p.opts = &own
	}
	return p, nil
}

// Dir returns the absolute path of the directory of projects.
func (p *Projects) Dir() string { return p.dir }

// Slugs returns the names of the projects that have a sessions directory, in the order of
// their text. Projects for which this is not known, for lack of rights or because a
// symlink leads nowhere, are among them: [Projects.Store] fails with the reason.
func (p *Projects) Slugs(ctx context.Context) ([]string, error) {
	if err := checkContext(ctx); err != nil {
		return nil, core.Wrap("list projects", "", err)
	}
	if p.dir == "" {
		return nil, core.Wrap("list projects", "", errClosed)
	}
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, core.Wrap("list projects", "", err)
	}
	var slugs []string
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		if ok, err := p.hasSessions(name); (ok || err != nil && name[0] != '.') && !vfs.OfSystem(name) {
			slugs = append(slugs, name)
		}
	}
	return slugs, nil
}

// hasSessions reports whether the project has a sessions directory. The error is the reason why
// this is not known.
func (p *Projects) hasSessions(slug string) (bool, error) {
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

// maxName is the longest name that file systems allow.
const maxName = 255

// checkSlug refuses a slug that cannot be the name of a project's directory.
func checkSlug(slug string) error {
	if slug == "" || len(slug) > maxName || strings.ContainsAny(slug, `/\`) || slug == "." || slug == ".." {
		return fmt.Errorf("invalid project name %q", limits.ID(slug))
	}
	return nil
}

// Store returns the store of the project slug, made if needed. It is closed
// by [Projects.Close]; every call with one slug returns the same.
func (p *Projects) Store(slug string) (*sessionstore.Store, error) {
	if err := checkSlug(slug); err != nil {
		return nil, core.Wrap("open project", "", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.dir == "" {
		return nil, core.Wrap("open project", "", errClosed)
	}
	if st := p.stores[slug]; st != nil {
		return st, nil
	}
	st, err := core.Open(p.sessions(slug), p.opts, p.hooks)
	if err == nil {
		p.stores[slug] = st
	}
	return st, err
}

var errClosed = limits.Errorf(sessionstore.ErrClosed, "the projects are closed")

// Resolve returns the directory of the session that ref means, as the reference's session
// finder does: an absolute path, an id, or the beginning of one, in all projects or in
// slug alone. Sub-sessions count; a directory without metadata.json does not. Space in
// ref is part of it. The error Is [sessionstore.ErrNotFound] or an
// [*sessionstore.AmbiguousError], or is the error of a project that cannot be read if no
// other has the session.
func (p *Projects) Resolve(ctx context.Context, ref, slug string) (dir string, err error) {
	if p.dir == "" {
		return "", core.Wrap("find", "", errClosed)
	}
	if filepath.IsAbs(ref) {
		path := tidy(ref)
		if !isSession(path) {
			return "", limits.Reference(sessionstore.ErrNotFound, "No valid session at path: "+limits.Path(ref))
		}
		return path, nil
	}
	slugs := []string{slug}
	if len(slug) > maxName {
		return "", core.Wrap("find", "", checkSlug(slug))
	}
	if slug == "" {
		if slugs, err = p.Slugs(ctx); err != nil {
			return "", err
		}
	}
	var exact, partial []string
	for _, slug := range slugs {
		names, failed := namesIn(p.sessions(slug), ref)
		err = errors.Join(err, failed)
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
		return "", core.Wrap("find", "", err)
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
	return names, errors.Join(err, f.Close())
}

// chooseMatch returns the one match. Exact matches win over partial ones.
func chooseMatch(ref string, exact, partial []string) (string, error) {
	matches := exact
	if len(exact) == 0 {
		matches = partial
	}
	switch len(matches) {
	case 0:
		return "", limits.Reference(sessionstore.ErrNotFound, fmt.Sprintf("No session found matching '%s'", limits.ID(ref)))
	case 1:
		return matches[0], nil
	}
	kind := "partial session ID"
	if len(exact) > 0 {
		kind = "session ID"
	}
	names := make([]string, len(matches))
	for i, m := range matches {
		names[i] = pyjson.Repr(filepath.Base(m))
	}
	return "", limits.Reference(&sessionstore.AmbiguousError{Prefix: ref, Matches: matches},
		fmt.Sprintf("Ambiguous %s '%s': matched [%s]", kind, limits.ID(ref), strings.Join(names, ", ")))
}

func isSession(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "metadata.json"))
	return err == nil
}

// checkContext returns the error of ctx. It panics with a clear text if ctx is nil.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		panic("sessionstore: nil Context") // unreachable: every caller has a context
	}
	return ctx.Err()
}

// Close closes the stores that Store returned.
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

// Summary is a session of one of several projects.
type Summary struct {
	Project string // its name, as [Projects.Store] takes it
	sessionstore.Summary
}

// Summaries yields a summary of each session of all projects, in the order of Changed
// over all of them; o.Limit counts all of them together. See
// [sessionstore.Store.Summaries]. Rows of sessions that cannot be read have the Project,
// too. After them comes a row with an error for each project that cannot be read, which
// has only Project. The error without a Project comes last.
func (p *Projects) Summaries(ctx context.Context, o *sessionstore.ListOptions) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		slugs, err := p.Slugs(ctx)
		if err != nil {
			yield(Summary{}, err)
			return
		}
		err = core.Summaries(ctx, slugs, p.openStore, o, func(slug string, s sessionstore.Summary, err error) bool {
			if slug != "" && s.ID == "" && errors.Is(err, sessionstore.ErrNotFound) {
				return true // the project was removed just now
			}
			return yield(Summary{slug, s}, err)
		})
		if err != nil && p.opts != nil && p.opts.Logger != nil {
			p.opts.Logger.Warn("project not closed", "err", err)
		}
	}
}

// openStore returns the open store of a project, or a new store, which the caller must
// close.
func (p *Projects) openStore(slug string) (st *sessionstore.Store, own bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, false, errClosed
	}
	if st := p.stores[slug]; st != nil {
		return st, false, nil
	}
	st, err = core.Open(p.sessions(slug), p.opts, p.hooks)
	return st, true, err
}
