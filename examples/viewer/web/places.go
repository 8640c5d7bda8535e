package web

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// Places are the sessions directories that are shown: one, or all in a directory of
// projects.
type Places struct {
	projects  *projects.Projects // nil: there is one sessions directory
	manifests []workflow.Manifest

	mu   sync.Mutex // guards the fields below
	open map[string]*place
	dirs map[string]string // directories of places, as far as they are known
}

// place is one sessions directory.
type place struct {
	name  string
	store *sessionstore.Store
	log   *workflow.Workflow
	hub   *hub
	cache *cache
}

// OpenPlaces opens dir, a sessions directory or a directory of projects, which must
// exist; "" means the user's projects.
func OpenPlaces(dir string, manifests []workflow.Manifest) (*Places, error) {
	p := &Places{manifests: manifests, open: map[string]*place{}, dirs: map[string]string{}}
	if dir != "" {
		if dir, err := sessionsIn(dir); err != nil {
			return nil, err
		} else if dir != "" {
			return p, p.openOne(dir)
		}
	}
	all, err := projects.Open(dir, nil)
	p.projects = all
	return p, err
}

// sessionsIn returns the sessions directory that dir is or has, and "" when dir is a
// directory of projects.
func sessionsIn(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	const name = "sessions"
	if filepath.Base(dir) == name {
		return dir, nil
	}
	if isDir(filepath.Join(dir, name)) {
		return filepath.Join(dir, name), nil
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return isDir(filepath.Join(dir, e.Name(), name)) }) {
		return "", nil
	}
	return dir, nil
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

func (p *Places) openOne(dir string) error {
	st, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	name := filepath.Base(dir)
	if parent := filepath.Base(filepath.Dir(dir)); name == "sessions" && parent != "" && parent != string(filepath.Separator) {
		name = parent
	}
	p.open[name] = p.newPlace(name, st)
	return nil
}

func (p *Places) newPlace(name string, st *sessionstore.Store) *place {
	return &place{name, st, workflow.New(st, p.manifests...), newHub(st), newCache(st)}
}

// names returns the names of all places.
func (p *Places) names(ctx context.Context) ([]string, error) {
	if p.projects != nil {
		return p.projects.Slugs(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.open {
		return []string{name}, nil
	}
	return nil, nil
}

// place returns the place of that name. The error Is [fs.ErrNotExist] when there is no
// such project; place makes none.
func (p *Places) place(ctx context.Context, name string) (*place, error) {
	names, err := p.names(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("open project %q: %w", name, fs.ErrNotExist)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.open[name]; at != nil {
		return at, nil
	}
	st, err := p.projects.Store(name)
	if err != nil {
		return nil, err
	}
	p.open[name] = p.newPlace(name, st)
	return p.open[name], nil
}

// dir returns the directory of which the sessions of a place are the project, or the name of
// the place if that is not known.
func (p *Places) dir(ctx context.Context, name string) string {
	p.mu.Lock()
	dir := p.dirs[name]
	p.mu.Unlock()
	if dir != "" {
		return dir
	}
	at, err := p.place(ctx, name)
	if err != nil { // the page of the project says so
		return name
	}
	if dir = host.WorkDir(ctx, at.store, name); dir == "" {
		return name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirs[name] = dir
	return dir
}

// Close ends all watches and closes the stores.
func (p *Places) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var err error
	for _, at := range p.open {
		at.hub.close()
		err = firstError(err, at.store.Close())
	}
	if p.projects != nil {
		err = firstError(err, p.projects.Close())
	}
	return err
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
