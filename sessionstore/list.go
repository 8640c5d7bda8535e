package sessionstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ListOptions narrow a listing. Nil is the zero value.
type ListOptions struct {
	All   bool // sub-sessions too; the default is top-level only
	Limit int  // 0: no limit
}

// Info is one session of a listing.
type Info struct {
	ID       string
	Modified time.Time // of the session's directory, which every save moves
}

// List returns the sessions, the one modified last first, as the reference
// does: every directory counts, but for hidden ones.
func (st *Store) List(ctx context.Context, opts *ListOptions) ([]Info, error) {
	done, err := st.begin(ctx)
	if err != nil {
		return nil, wrap("list", "", err)
	}
	defer done()
	infos, err := st.list(opts)
	return infos, wrap("list", "", err)
}

func (st *Store) list(opts *ListOptions) ([]Info, error) {
	o := ListOptions{}
	if opts != nil {
		o = *opts
	}
	entries, err := st.base.Entries(func(id string) bool { return o.All || IsTopLevel(id) })
	if err != nil {
		return nil, err
	}
	infos := make([]Info, len(entries))
	for i, e := range entries {
		infos[i] = Info{e.Name, e.Modified}
	}
	slices.SortStableFunc(infos, func(a, b Info) int { return cmp.Compare(seconds(b.Modified), seconds(a.Modified)) })
	if o.Limit > 0 && o.Limit < len(infos) {
		infos = infos[:o.Limit]
	}
	return infos, nil
}

// seconds is a time as Python's st_mtime: two times that it cannot tell apart
// keep the order of the directory.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix()) + 1e-9*float64(t.Nanosecond())
}

// Exists reports whether there is a session id. It is false for an id that
// cannot be one.
func (st *Store) Exists(id string) bool {
	return checkID(id) == nil && st.base.Has(id)
}

// Find returns the one session whose id begins with prefix, of which space
// around it is ignored; an id that equals it wins. The error Is [ErrNotFound]
// when there is none and an [*AmbiguousError] when there are several.
// opts.Limit has no meaning here.
func (st *Store) Find(ctx context.Context, prefix string, opts *ListOptions) (string, error) {
	done, err := st.begin(ctx)
	if err != nil {
		return "", wrap("find", "", err)
	}
	defer done()
	prefix = strings.TrimFunc(prefix, isSpace)
	if prefix == "" {
		return "", &textError{"Session ID cannot be empty", ErrInvalidID}
	}
	all := opts != nil && opts.All
	if st.Exists(prefix) && (all || IsTopLevel(prefix)) {
		return prefix, nil
	}
	infos, err := st.list(&ListOptions{All: all})
	if err != nil {
		return "", wrap("find", "", err)
	}
	var matches []string
	for _, info := range infos {
		if strings.HasPrefix(info.ID, prefix) {
			matches = append(matches, info.ID)
		}
	}
	switch len(matches) {
	case 0:
		return "", &textError{fmt.Sprintf("No session found matching '%s'", prefix), ErrNotFound}
	case 1:
		return matches[0], nil
	}
	return "", &AmbiguousError{Prefix: prefix, Matches: matches}
}
