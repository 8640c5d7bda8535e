package cli

import (
	"errors"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// reach is find that also knows sessions that have lost their metadata, which
// the Python tools do not see.
func (w anywhere) reach(a *app) (target, error) {
	t, missing := w.find(a)
	if !errors.Is(missing, sessionstore.ErrNotFound) || w.Session == "" {
		return t, missing
	}
	if isPath(w.Session) {
		if path := absolute(w.Session); isDir(path) && filepath.Base(filepath.Dir(path)) == "sessions" {
			return a.open(path)
		}
		return t, missing
	}
	stores, closed, err := a.stores(w.where)
	if err != nil {
		return t, err
	}
	found := []string{}
	for _, st := range stores {
		id, err := st.Find(a.ctx, w.Session, &sessionstore.ListOptions{All: true})
		ambiguous := (*sessionstore.AmbiguousError)(nil)
		switch {
		case err == nil:
			t = target{st, id}
			found = append(found, t.dir())
		case errors.As(err, &ambiguous):
			found = append(found, ambiguous.Matches...)
		case !errors.Is(err, sessionstore.ErrNotFound):
			return t, err
		}
	}
	switch len(found) {
	case 0:
		a.warn(closed)
		return target{}, missing
	case 1:
		return t, nil
	}
	return target{}, &sessionstore.AmbiguousError{Prefix: w.Session, Matches: found}
}

// stores opens the projects that w names: one, or all. closed tells of those that
// cannot be read.
func (a *app) stores(w where) (all []*sessionstore.Store, closed, err error) {
	p, err := a.known(w)
	if err != nil {
		return nil, nil, err
	}
	slugs, err := p.Slugs(a.ctx)
	if err != nil {
		return nil, nil, err
	}
	slug, err := w.existing(a, p, false)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slugs {
		if slug != "" && name != slug {
			continue
		}
		st, err := p.Store(name)
		if err != nil {
			closed = errors.Join(closed, err)
			continue
		}
		all = append(all, st)
	}
	return all, closed, nil
}
