package cli

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// toolForm says how the calls of tools and their results are shown.
type toolForm int

// The forms.
const (
	noTools  toolForm = iota
	folded            // a line for the call, and one for the result with its size
	unfolded          // all of both
	arriving          // as folded, but results may come later
)

// formOfTools is the form that a flag asks for.
func formOfTools(all bool) toolForm {
	if all {
		return unfolded
	}
	return folded
}

// toolCall writes a call, and its result below it.
func (a *app) toolCall(c conversation.Call, form toolForm) {
	if form == unfolded {
		a.Printf("  %s\n", a.Paint(screen.Dim, "→ "+screen.Plain(c.Name)))
		a.toolText(screen.Indented(c.Arguments.Text, math.MaxInt))
	} else {
		a.toolLine("  ", "→ "+c.Name+" "+c.Arguments.Text, len(c.Arguments.Text))
	}
	switch {
	case c.Result != nil:
		a.toolResult(*c.Result, form, "    ")
	case form != arriving:
		a.Printf("    %s\n", a.Paint(screen.Yellow, "← no result"))
	}
}

// toolResult writes a result behind a margin.
func (a *app) toolResult(r conversation.Result, form toolForm, margin string) {
	defer a.files(r.Files, margin)
	if r.Text.Text == "" && len(r.Files) > 0 {
		return
	}
	text := strings.TrimRight(r.Text.Text, "\n ")
	lines := strings.Count(text, "\n") + 1
	told := size(int64(r.Text.Size))
	if lines > 1 {
		told += ", " + count(lines, "line")
	}
	if form == unfolded {
		a.Printf("%s%s\n", margin, a.Paint(screen.Dim, "← "+told))
		a.toolText(text)
		return
	}
	begin, _, more := strings.Cut(strings.TrimLeft(text, "\n "), "\n")
	switch {
	case text == "":
		begin = "nothing"
	case more || screen.Columns(screen.Plain(screen.Start(begin, lineBytes))) > a.toolRoom(margin):
		begin = told + ": " + begin
	}
	a.toolLine(margin, "← "+begin, 0)
}

// lineBytes limits the bytes of a text of which a line is shown.
const lineBytes = 2000

// toolRoom is how many columns a line about a tool has behind its margin and an
// arrow.
func (a *app) toolRoom(margin string) int {
	const longest = 200 // in a pipe
	if a.Terminal() {
		return max(shortID, min(a.Width(), longest)-len(margin)-2)
	}
	return longest
}

// toolLine writes a line about a tool. A line that is too long is cut, and ends in the
// given size, unless bytes is 0.
func (a *app) toolLine(margin, text string, bytes int) {
	room := a.toolRoom(margin) + 2
	line := screen.Plain(screen.Start(text, lineBytes))
	if bytes > 0 && screen.Columns(line) > room {
		told := " (" + size(int64(bytes)) + ")"
		if left := room - len(told); left > 2*shortID {
			line = screen.Fit(line, left) + told
		}
	}
	a.Printf("%s%s\n", margin, a.Paint(screen.Dim, screen.Fit(line, room)))
}

// toolText writes all of a text.
func (a *app) toolText(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(screen.Lines(text), "\n "), "\n") {
		a.Printf("    %s\n", a.Paint(screen.Dim, line))
	}
}

// target is the session that a command is about.
type target struct {
	store *sessionstore.Store
	id    string // the name of its directory
}

func (t target) dir() string { return filepath.Join(t.store.Dir(), t.id) }

// projectOf returns the name of the session's project.
func projectOf(t target) string { return filepath.Base(filepath.Dir(t.store.Dir())) }

// anywhere are the arguments of a command that finds its session in all
// projects, sub-sessions included, as amplifier-session does.
type anywhere struct {
	Session string `arg:"" help:"Id of the session, the beginning of one, or the path of its directory."`
	where
}

func (w anywhere) find(a *app) (target, error) {
	p, err := a.known(w.where)
	if err != nil {
		return target{}, err
	}
	slug, err := w.slug(a, p, false)
	if err != nil {
		return target{}, err
	}
	ref := w.Session
	switch {
	case isPath(ref):
		ref = absolute(ref)
	case strings.Contains(ref, elision):
		t, err := w.among(a)
		if err != nil {
			return target{}, err
		}
		ref = t.dir()
	}
	dir, err := besideSubs(p.Resolve(a.ctx, ref, slug))
	if errors.Is(err, sessionstore.ErrNotFound) && isDir(w.Session) { // no id, but a name in the working directory
		if named, bad := p.Resolve(a.ctx, absolute(w.Session), slug); bad == nil {
			dir, err = named, nil
		}
	}
	if err != nil {
		return target{}, err
	}
	return a.open(dir)
}

// isPath reports whether a reference to a session is a path that can be no id.
func isPath(ref string) bool {
	return filepath.IsAbs(ref) || ref == "." || ref == ".." || ref != "" && filepath.Base(ref) != ref
}

// absolute returns a path as an absolute path without symlinks. A symlink that is an
// entry of a sessions directory is not followed: the store decides how to treat it.
func absolute(path string) string {
	if !filepath.IsAbs(path) {
		wd, err := os.Getwd()
		if err != nil {
			return path
		}
		path = wd + string(filepath.Separator) + path // as it is: ".." may follow a symlink
	}
	dir, name := filepath.Split(strings.TrimRightFunc(path, func(r rune) bool { return r == '/' || r == filepath.Separator }))
	parent, err := filepath.EvalSymlinks(dir)
	if err == nil && filepath.Base(parent) == "sessions" && name != "." && name != ".." {
		return filepath.Join(parent, name)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// open opens the session in the directory dir.
func (a *app) open(dir string) (target, error) {
	st, err := sessionstore.Open(filepath.Dir(dir), a.storeOptions())
	if err != nil {
		return target{}, err
	}
	a.later(st.Close)
	return target{st, filepath.Base(dir)}, nil
}

// everywhere are the flags of a command that looks in all projects unless --project
// names one. --all-projects is accepted because other commands need it.
type everywhere struct {
	where
	AllProjects bool `hidden:"" help:"All projects, as without it."`
}

// Validate refuses flags that contradict each other.
func (e everywhere) Validate() error {
	if e.AllProjects && e.Project != "" {
		return usageError{"--all-projects and --project: choose one"}
	}
	return nil
}

// sameDir reports whether two paths are of one directory.
func sameDir(a, b string) bool {
	one, _ := os.Stat(a)
	other, _ := os.Stat(b)
	return os.SameFile(one, other)
}

// here are the arguments of a command that finds its session in the project of
// the working directory, as "amplifier session" does, and else in all projects.
type here struct {
	Session string `arg:"" help:"Id of the session, the beginning of one, or the path of its directory."`
	local
}

// local are the flags that say in which one project a command works.
type local struct {
	SessionsRoot string `placeholder:"DIR" help:"Directory of projects (default: ~/.amplifier/projects)." group:"Where"`
	Project      string `placeholder:"NAME" help:"Look in this project: its name, as lists show it too, or the path of its directory (default: the working directory's, or all)." group:"Where"`
}

// find finds a session. In the project, sub-sessions are found when the reference
// has the underscore of their ids.
func (h here) find(a *app) (target, error) {
	if isPath(h.Session) || strings.Contains(h.Session, elision) {
		return anywhere{h.Session, where(h.local)}.find(a)
	}
	st, _, err := h.openStore(a)
	if err != nil && !errors.Is(err, errNoDirectory) {
		return target{}, err
	}
	found := error(noSession(h.Session))
	if st != nil {
		id, err := st.Find(a.ctx, h.Session, &sessionstore.ListOptions{All: strings.Contains(h.Session, "_")})
		if err == nil {
			return target{st, id}, nil
		}
		found = ambiguousIn(st.Dir(), err)
	}
	if !errors.Is(found, sessionstore.ErrNotFound) || h.Project != "" || h.Session == "" {
		return target{}, found
	}
	t, err := anywhere{h.Session, where(h.local)}.find(a)
	if errors.Is(err, sessionstore.ErrNotFound) {
		return target{}, found
	}
	return t, err
}

// openStore opens the project's sessions directory, and makes none: the store
// is nil where there is none.
func (l local) openStore(a *app) (*sessionstore.Store, *projects.Projects, error) {
	p, err := a.known(where(l))
	if err != nil {
		return nil, nil, err
	}
	slug, err := where(l).existing(a, p, true)
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Join(p.Dir(), slug, "sessions")
	if fi, err := os.Lstat(dir); !isDir(dir) && (errors.Is(err, fs.ErrNotExist) || err == nil && fi.Mode()&fs.ModeSymlink == 0) {
		return nil, p, nil
	}
	st, err := p.Store(slug)
	return st, p, err
}

// missing is the text of an error that Is [sessionstore.ErrNotFound].
type missing string

func (e missing) Error() string { return string(e) }

func (missing) Unwrap() error { return sessionstore.ErrNotFound }

// noSession returns the error for a reference that no session matches, in the words of the
// Python tools.
func noSession(ref string) missing { return missing("No session found matching '" + ref + "'") }
