package conformance

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
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
		return from.Add(-time.Duration(*e.Age * float64(time.Second))), true
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

// listing is what was listed and found. Failed is the outcome of both lists.
type listing struct {
	TopLevel, All, Found []string
	Failed               string
}

// goneReported is the rule about a sessions directory that was moved or
// removed after it was opened.
const goneReported rule = "gone-reported"

// goneOutcome is what our calls say then.
const goneOutcome = notFound + "the sessions directory"

func (c listCase) run(t *testing.T) verdict {
	p := newPlace(t)
	st := p.open(t)
	fill(t, p, c.Entries)
	reference := listing{TopLevel: c.TopLevel, All: c.All, Found: []string{}}
	ours := listing{Found: []string{}}
	ours.TopLevel, ours.Failed = list(t, st, nil)
	all, failed := list(t, st, &sessionstore.ListOptions{All: true})
	require.Equal(t, ours.Failed, failed)
	ours.All = all
	for _, f := range c.Finds {
		reference.Found = append(reference.Found, f.Result+f.Error.outcome())
		id, err := st.Find(t.Context(), f.Partial, &sessionstore.ListOptions{All: !f.Top})
		ours.Found = append(ours.Found, id+goneOr(st, err))
	}
	return judge(reference, ours, func(fired *fired) listing { return c.predict(fired, reference) })
}

func (c listCase) predict(fired *fired, reference listing) listing {
	l := reference
	l.Found = slices.Clone(reference.Found)
	gone := c.Entries == nil && fired.by(goneReported)
	if gone {
		l.Failed = goneOutcome
	}
	for i, f := range c.Finds {
		partial := string(pyjson.TrimSpace([]byte(f.Partial)))
		switch none := notFound + "No session found matching '" + partial + "'"; {
		case gone && (l.Found[i] == none || l.Found[i] == ioError):
			l.Found[i] = goneOutcome
		case l.Found[i] == ioError && len(partial) > 255 && fired.by(longID):
			l.Found[i] = none
		}
		l.Found[i] = shorten(fired, l.Found[i], partial)
	}
	return l
}

// list returns the ids of a list, none where it failed.
func list(t *testing.T, st *sessionstore.Store, opts *sessionstore.ListOptions) (ids []string, failed string) {
	t.Helper()
	infos, err := st.List(t.Context(), opts)
	ids = []string{}
	for _, info := range infos {
		ids = append(ids, info.ID)
	}
	return ids, goneOr(st, err)
}

// goneOr is the outcome of a call whose error may tell that the sessions
// directory is gone.
func goneOr(st *sessionstore.Store, err error) string {
	if errors.Is(err, sessionstore.ErrNotFound) && strings.Contains(err.Error(), "sessions directory "+st.Dir()+" was moved or removed") {
		return goneOutcome
	}
	return outcome(err)
}

// cleanupCase removes old sessions.
type cleanupCase struct {
	Days      json.RawMessage
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

// cleanupWholeDays is the rule about numbers of days that no int is.
const cleanupWholeDays rule = "cleanup-whole-days"

func (c cleanupCase) run(t *testing.T) verdict {
	days, err := strconv.Atoi(string(c.Days))
	if err != nil {
		return judge(c.reference(), cleaned{Failed: notExpressible}, func(f *fired) cleaned {
			if f.by(cleanupWholeDays) {
				return cleaned{Failed: notExpressible}
			}
			return c.reference()
		})
	}
	p := newPlace(t)
	st := p.open(t)
	fill(t, p, c.Entries)
	ours := cleaned{Remaining: []string{}}
	removed, err := st.Cleanup(t.Context(), days)
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
	slices.Sort(ours.Remaining)
	reference := c.reference()
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

func (c cleanupCase) reference() cleaned {
	o := cleaned{Removed: c.Removed, Remaining: append([]string{}, c.Remaining...)}
	if c.Error != nil {
		o.Failed = c.Error.Message
	}
	slices.Sort(o.Remaining)
	return o
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
	all, err := projects.Open(p.dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, all.Close()) })
	dir, err := all.Resolve(t.Context(), strings.ReplaceAll(c.Ref, "{DIR}", p.dir), c.Project)
	ours := strings.ReplaceAll(dir+outcome(err), p.dir, "{DIR}")
	reference := sortMatches(c.Path + c.Error.outcome())
	return judge(reference, sortMatches(ours), func(f *fired) string {
		if c.Path != "" && path.Clean(c.Path) != c.Path && f.by(resolveCleaned) {
			return path.Clean(c.Path)
		}
		return shorten(f, reference, c.Ref)
	})
}

// resolveCleaned is the rule about the paths of projects.
const resolveCleaned rule = "resolve-cleaned"

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
