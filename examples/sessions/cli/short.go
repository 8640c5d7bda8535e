package cli

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// shortID is the number of characters of an id that are shown at least.
const shortID = 8

// mostBegin is the longest beginning of an id that is shown in its place.
const mostBegin = 12

// elision stands in a short id for what it leaves out.
const elision = "…"

// shortIDs returns a function that returns the short form of an id in a list for people, and
// the id itself for programs.
//
// The short form is the shortest beginning of at least shortID characters that no other id of
// the list has. A session and its sub-sessions have long beginnings in common: the parent has
// the short form that it has without them, and a sub-session has shortID characters, the
// elision, and at least four characters from the place at which it differs.
func (a *app) shortIDs(ids []string) func(id string) string {
	if !a.Terminal() {
		return func(id string) string { return id }
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(ids)))
	return func(id string) string { return short(id, sorted) }
}

// idColumn is the column of ids in their short form.
func idColumn(ids []string, short func(id string) string) screen.Column {
	widest := shortID
	for _, id := range ids {
		widest = max(widest, screen.Columns(short(id)))
	}
	return screen.Column{Title: "Session", Min: widest, Whole: true, Tint: screen.In(screen.Green)}
}

// mostAlike limits the ids with one beginning that have short forms with an elision: whether
// such a form means another id is looked up in all of them.
const mostAlike = 1000

// short returns the short form of an id among ids, which are sorted, without duplicates.
func short(id string, ids []string) string {
	at, _ := slices.BinarySearch(ids, id)
	after := at
	for after < len(ids) && strings.HasPrefix(ids[after], id) { // itself, and its sub-sessions
		after++
	}
	differs := 0 // the first place at which it differs from all others
	if at > 0 {
		differs = alike(ids[at-1], id)
	}
	if after < len(ids) {
		differs = max(differs, alike(ids[after], id))
	}
	if begin := max(shortID, differs+1); begin >= len(id) || begin <= mostBegin {
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
	for to := min(differs+4, len(id)); to <= len(id); to++ {
		form := id[:shortID] + elision + id[differs:to]
		if !slices.ContainsFunc(ids[first:end], func(other string) bool { return other != id && elided(form, other) }) {
			return form
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
		if match != session && (!strings.HasPrefix(match, session+"-") || sessionstore.IsTopLevel(filepath.Base(match))) {
			return meant, err
		}
	}
	return session, nil
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

// unelide returns the directory of the session that a reference with an elision means, in the
// project that w names, or in all. Another reference is returned unchanged.
func (w where) unelide(a *app, ref string) (string, error) {
	if !strings.Contains(ref, elision) || isPath(ref) {
		return ref, nil
	}
	stores, closed, err := a.stores(w)
	if err != nil {
		return "", err
	}
	var dirs []string
	for _, st := range stores {
		all, err := st.List(a.ctx, &sessionstore.ListOptions{All: true})
		closed = errors.Join(closed, err)
		for _, info := range all {
			if elided(ref, info.ID) {
				dirs = append(dirs, filepath.Join(st.Dir(), info.ID))
			}
		}
	}
	switch len(dirs) {
	case 0:
		a.warn(closed)
		return "", notFoundError{ref}
	case 1:
		return dirs[0], nil
	}
	return "", &sessionstore.AmbiguousError{Prefix: ref, Matches: dirs}
}

// places are the names by which a list shows projects to people: the last part of the
// directory, and the part before where two projects have the same. dirs has the directory of
// each project that is known. Programs get the project's name.
func (a *app) places(projects []string, dirs map[string]string) func(project string) string {
	if !a.Terminal() {
		return func(project string) string { return project }
	}
	names := map[string]string{}
	for _, p := range projects {
		if dir := dirs[p]; dir != "" {
			names[p] = filepath.Base(dir)
		} else {
			names[p] = screen.FitEnd(p, maxPlace)
		}
	}
	twins := map[string]int{}
	for _, name := range names {
		twins[name]++
	}
	for p, name := range names {
		if dir := dirs[p]; dir != "" && twins[name] > 1 {
			names[p] = filepath.Base(filepath.Dir(dir)) + "/" + name
		}
	}
	return func(project string) string { return names[project] }
}

// maxPlace is the longest name that is shown of a project whose directory is not known.
const maxPlace = 24

// placesOf is places of the projects of sessions.
func (a *app) placesOf(all []sessionstore.Summary, projects []string) func(project string) string {
	dirs := map[string]string{}
	for i, s := range all {
		if s.WorkingDir != "" && sessionstore.ProjectSlug(s.WorkingDir) == projects[i] {
			dirs[projects[i]] = s.WorkingDir
		}
	}
	return a.places(projects, dirs)
}
