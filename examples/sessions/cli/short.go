package cli

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// shortID is the number of characters of an id that are shown at least.
const shortID = 8

// mostBegin is the longest beginning of an id that is shown in its place.
const mostBegin = 12

// elision stands in a short id for what it leaves out.
const elision = "…"

// shortIDs returns a function that returns the short form of an id in a list for people.
//
// The short form is the shortest beginning of at least shortID characters that no other id has,
// of the list and of the projects in which commands look for it. A session and its sub-sessions have long beginnings in common: the parent has
// the short form that it has without them, and a sub-session has shortID characters, the
// elision, and four characters or more from the first at which it differs, or its end.
func (a *app) shortIDs(ids []string) func(id string) string {
	all := slices.Concat(ids, a.idsHere())
	slices.Sort(all)
	all = slices.Compact(all)
	return func(id string) string { return short(id, all) }
}

// idsHere returns the ids of the sessions of all projects, as far as they can be read.
func (a *app) idsHere() (ids []string) {
	if a.opened == nil {
		return nil
	}
	slugs, _ := a.opened.Slugs(a.ctx)
	for _, slug := range slugs {
		entries, _ := os.ReadDir(filepath.Join(a.opened.Dir(), slug, "sessions"))
		for _, e := range entries {
			ids = append(ids, e.Name())
		}
	}
	return ids
}

// idColumn is the column of ids, for people in their short form.
func (a *app) idColumn() screen.Column {
	return screen.Column{Title: "Session", Min: shortID, Whole: true, Tint: screen.In(screen.Green), Short: a.shortIDs}
}

// projectColumn is the column of projects, for people by their [app.places]. Where it is the
// same for all rows, people do not see it. drop is as of [screen.Column].
func (a *app) projectColumn(drop int) screen.Column {
	return screen.Column{Title: "Project", Min: 10, Drop: drop, Once: true, Tint: screen.In(screen.Magenta), Short: a.places}
}

// mostAlike limits the ids with one beginning that have short forms with an elision: whether
// such a form means another id is looked up in all of them.
const mostAlike = 1000

// short returns the short form of an id among ids, which are sorted, without duplicates.
func short(id string, ids []string) string {
	at, _ := slices.BinarySearch(ids, id)
	after := at
	for after < len(ids) && (ids[after] == id || isSubOf(ids[after], id)) {
		after++
	}
	differs := 0 // the first place at which it differs from all others
	if at > 0 {
		differs = alike(ids[at-1], id)
	}
	if after < len(ids) {
		differs = max(differs, alike(ids[after], id))
	}
	if begin := max(shortID, differs+1); len(id) <= mostBegin || begin <= mostBegin {
		return id[:min(begin, len(id))]
	}
	first, _ := slices.BinarySearch(ids, id[:shortID])
	end := first
	for end < len(ids) && strings.HasPrefix(ids[end], id[:shortID]) && end-first <= mostAlike {
		end++
	}
	if end-first > mostAlike {
		return id
	}
	from, to := differs, min(differs+4, len(id))
	if differs+1 >= len(id) { // its last character alone says too little to people
		from = len(id) - 4
	}
	for from > shortID {
		form := id[:shortID] + elision + id[from:to]
		if !slices.ContainsFunc(ids[first:end], func(other string) bool { return other != id && elided(form, other) }) {
			return form
		}
		if to < len(id) {
			to++
		} else { // what precedes tells it apart
			from--
		}
	}
	return id
}

// alike returns the length of the beginning that two texts have in common.
func alike(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// elided reports whether a reference with an elision means the id.
func elided(ref, id string) bool {
	begin, rest, ok := strings.Cut(ref, elision)
	return ok && strings.HasPrefix(id, begin) && strings.Contains(id[len(begin):], rest)
}

// besideSubs returns the session that a reference means that is ambiguous only because the
// ids of sub-sessions begin with the id of the session. It returns other results unchanged.
func besideSubs(meant string, err error) (string, error) {
	found := (*sessionstore.AmbiguousError)(nil)
	if !errors.As(err, &found) {
		return meant, err
	}
	session := slices.MinFunc(found.Matches, func(x, y string) int { return len(x) - len(y) })
	for _, match := range found.Matches {
		if match != session && !isSubOf(match, session) {
			return meant, err
		}
	}
	return session, nil
}

// isSubOf reports whether an id, or the path of a session's directory, is by its form that of
// a sub-session of the session.
func isSubOf(id, session string) bool {
	return strings.HasPrefix(id, session+"-") && !sessionstore.IsTopLevel(filepath.Base(id))
}

// elidedIn returns the one of ids that a reference with an elision means, else the reference.
func elidedIn(ref string, ids []string) string {
	meant := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !elided(ref, id) })
	slices.Sort(meant)
	if meant = slices.Compact(meant); len(meant) == 1 {
		return meant[0]
	}
	return ref
}

// reach finds a session as find does, and also sessions that have lost their metadata,
// which the Python tools do not see.
func (w anywhere) reach(a *app) (target, error) {
	t, lacking := w.find(a)
	if !errors.Is(lacking, sessionstore.ErrNotFound) || w.Session == "" {
		return t, lacking
	}
	if isPath(w.Session) {
		if path := absolute(w.Session); isDir(path) && filepath.Base(filepath.Dir(path)) == "sessions" {
			return a.open(path)
		}
		return t, lacking
	}
	t, err := w.among(a)
	if errors.Is(err, sessionstore.ErrNotFound) {
		err = lacking
	}
	return t, err
}

// among returns the session that a reference, which is no path, means of all sessions in the
// project that w names, or in all projects.
func (w anywhere) among(a *app) (target, error) {
	stores, closed, err := a.stores(w.where)
	if err != nil {
		return target{}, err
	}
	var found []target
	for _, st := range stores {
		all, err := st.List(a.ctx, &sessionstore.ListOptions{All: true})
		closed = errors.Join(closed, err)
		same := slices.ContainsFunc(all, func(info sessionstore.Info) bool { return info.ID == w.Session })
		for _, info := range all {
			if info.ID == w.Session || !same && (strings.HasPrefix(info.ID, w.Session) || elided(w.Session, info.ID)) {
				found = append(found, target{st, info.ID})
			}
		}
	}
	switch len(found) {
	case 0:
		a.warn(closed)
		return target{}, noSession(w.Session)
	case 1:
		return found[0], nil
	}
	ambiguous := &sessionstore.AmbiguousError{Prefix: w.Session}
	for _, t := range found {
		ambiguous.Matches = append(ambiguous.Matches, t.dir())
	}
	return target{}, ambiguous
}

// places returns a function that returns the name by which people see a project: the last
// part of its directory, and the part before where two projects have the same, or the form
// of its accents where they differ in that alone. Of a project
// whose directory is not known it returns the end of the project's name.
func (a *app) places(projects []string) func(project string) string {
	dirs, names, twins := map[string]string{}, map[string]string{}, map[string]int{}
	for _, p := range projects {
		if _, ok := names[p]; ok {
			continue
		}
		if dirs[p] = a.workDir(p); dirs[p] != "" {
			names[p] = filepath.Base(dirs[p])
		} else {
			names[p] = screen.FitEnd(p, maxPlace)
		}
		twins[names[p]]++
	}
	for p, name := range names {
		if twins[name] > 1 && dirs[p] != "" {
			names[p] = filepath.Base(filepath.Dir(dirs[p])) + "/" + name
		}
	}
	all := slices.Compact(slices.Sorted(maps.Values(names)))
	for p, name := range names {
		if strings.ContainsFunc(name, beyondASCII) && len(formsOf(all, name)) > 1 {
			names[p] = inForm(name)
		}
	}
	return func(project string) string { return names[project] }
}

// maxPlace is the longest name that is shown of a project whose directory is not known.
const maxPlace = 24

// workDir returns the directory of which the sessions are a project, as its newest sessions
// name it, "" if they do not. The project is one of the projects that were opened last.
func (a *app) workDir(project string) string {
	if a.opened == nil || !isDir(filepath.Join(a.opened.Dir(), project, "sessions")) {
		return ""
	}
	st, err := a.opened.Store(project)
	if err != nil {
		return ""
	}
	return host.WorkDir(a.ctx, st, project)
}
