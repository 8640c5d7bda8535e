package conformance

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// entry is a name in a sessions directory.
type entry struct {
	Name, Type string
	Mtime      *float64 // seconds since 1970
	Age        *float64 `json:"age_seconds"`
}

// modified is the entry's time, where it has one.
func (e entry) modified(from time.Time) (at time.Time, ok bool) {
	switch {
	case e.Mtime != nil:
		whole, part := math.Modf(*e.Mtime)
		return time.Unix(int64(whole), int64(part*1e9)), true
	case e.Age != nil:
		return from.Add(-time.Duration(*e.Age) * time.Second), true
	}
	return time.Time{}, false
}

// fill makes the entries. Without any the directory itself goes.
func fill(t *testing.T, p place, entries []entry) {
	t.Helper()
	if entries == nil {
		require.NoError(t, os.Remove(p.dir))
	}
	for _, e := range entries {
		path := filepath.Join(p.dir, e.Name)
		target := filepath.Join(p.workspace, e.Name)
		switch e.Type {
		case "dir":
			require.NoError(t, os.Mkdir(path, 0o700))
		case "file":
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		case "symlink_dir":
			require.NoError(t, os.Mkdir(target, 0o700))
			require.NoError(t, os.Symlink(target, path))
		case "symlink_broken":
			require.NoError(t, os.Symlink(target, path))
		default:
			require.Fail(t, "unknown type of entry", e.Type)
		}
	}
	for _, e := range entries {
		if at, ok := e.modified(now()); ok {
			require.NoError(t, os.Chtimes(filepath.Join(p.dir, e.Name), at, at))
		}
	}
}

// listCase lists sessions and finds them by the beginnings of their ids.
type listCase struct {
	Entries  []entry
	TopLevel []string `json:"list_top_level"`
	All      []string `json:"list_all"`
	Finds    []struct {
		Partial string
		Top     bool `json:"top_level_only"`
		Result  string
		Error   *failure
	}
}

type listing struct {
	TopLevel, All, Found []string
}

func (c listCase) run(t *testing.T) verdict {
	p := newPlace(t)
	st := p.open(t)
	fill(t, p, c.Entries)
	reference := listing{TopLevel: c.TopLevel, All: c.All, Found: []string{}}
	ours := listing{TopLevel: ids(t, st, nil), All: ids(t, st, &sessionstore.ListOptions{All: true}), Found: []string{}}
	for _, f := range c.Finds {
		reference.Found = append(reference.Found, f.Result+f.Error.outcome())
		id, err := st.Find(t.Context(), f.Partial, &sessionstore.ListOptions{All: !f.Top})
		ours.Found = append(ours.Found, id+outcome(err))
	}
	return judge(reference, ours, func(fired *fired) listing {
		l := reference
		l.Found = slices.Clone(reference.Found)
		for i, f := range c.Finds {
			partial := string(pyjson.TrimSpace([]byte(f.Partial)))
			if l.Found[i] == ioError && len(partial) > 255 && fired.by(longID) {
				l.Found[i] = notFound + "No session found matching '" + partial + "'"
			}
		}
		return l
	})
}

func ids(t *testing.T, st *sessionstore.Store, opts *sessionstore.ListOptions) []string {
	t.Helper()
	infos, err := st.List(t.Context(), opts)
	require.NoError(t, err)
	list := []string{}
	for _, info := range infos {
		list = append(list, info.ID)
	}
	return list
}

// cleanupCase removes old sessions.
type cleanupCase struct {
	Days      int
	Entries   []entry
	Removed   int
	Error     *failure
	Remaining []string
}

type cleaned struct {
	Removed   int
	Failed    string
	Remaining []string
}

func (c cleanupCase) run(t *testing.T) verdict {
	p := newPlace(t)
	st := p.open(t)
	fill(t, p, c.Entries)
	ours := cleaned{Remaining: []string{}}
	removed, err := st.Cleanup(t.Context(), c.Days)
	ours.Removed = removed
	switch {
	case err != nil && c.Error != nil && c.Error.Type != "ValueError":
		ours.Failed = c.Error.Message // a text of the interpreter's
	case err != nil:
		ours.Failed = err.Error()
	}
	if left, err := os.ReadDir(p.dir); err == nil {
		for _, e := range left {
			ours.Remaining = append(ours.Remaining, e.Name())
		}
	}
	reference := cleaned{Removed: c.Removed, Remaining: append([]string{}, c.Remaining...)}
	if c.Error != nil {
		reference.Failed = c.Error.Message
	}
	slices.Sort(ours.Remaining)
	slices.Sort(reference.Remaining)
	return judge(reference, ours, func(f *fired) cleaned {
		r := reference
		r.Remaining = slices.Clone(reference.Remaining)
		for _, name := range ours.Remaining {
			if c.isOwn(name) && f.by(ownNames) {
				r.Remaining = append(r.Remaining, name)
			}
		}
		slices.Sort(r.Remaining)
		return r
	})
}

// isOwn reports whether name is one that removing the sessions of this case
// leaves beside them: the lock of one of them, or our bookkeeping.
func (c cleanupCase) isOwn(name string) bool {
	return name == sessiondir.Bookkeeping || slices.ContainsFunc(c.Entries, func(e entry) bool {
		return name == "."+e.Name+".metadata.lock" && e.Type == "dir" && !slices.Contains(c.Remaining, e.Name)
	})
}

// resolveCase finds a session in all projects.
type resolveCase struct {
	Tree    map[string]map[string]files
	Ref     string
	Project string
	Path    string
	Error   *failure
}

func (c resolveCase) run(t *testing.T) verdict {
	p := newPlace(t)
	for project, sessions := range c.Tree {
		require.NoError(t, os.MkdirAll(filepath.Join(p.dir, project), 0o700))
		for id, f := range sessions {
			p.put(t, filepath.Join(project, "sessions", id), f)
		}
	}
	projects, err := sessionstore.OpenProjects(p.dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, projects.Close()) })
	path, err := projects.Resolve(t.Context(), strings.ReplaceAll(c.Ref, "{DIR}", p.dir), c.Project)
	ours := strings.ReplaceAll(path+outcome(err), p.dir, "{DIR}")
	return equal(sortMatches(c.Path+c.Error.outcome()), sortMatches(ours))
}

var matched = regexp.MustCompile(`\[(.*)\]$`)

// sortMatches sorts the matches that a text names, of which the reference has
// no order.
func sortMatches(text string) string {
	return matched.ReplaceAllStringFunc(text, func(list string) string {
		names := strings.Split(strings.Trim(list, "[]"), ", ")
		slices.Sort(names)
		return "[" + strings.Join(names, ", ") + "]"
	})
}
