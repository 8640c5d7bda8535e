package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// app is what a command runs in.
type app struct {
	*screen.Screen
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	env    func(string) string
	now    func() time.Time
	parser *kong.Kong
	json   bool   // standard output is JSON
	typed  bool   // and that of --json=v1
	name   string // of the command, as "trash list"
	plain  bool   // text is shown as it stands, not rendered
	paged  bool   // long answers go through a pager
	told   bool   // the answer of --json=v1 is written
	unread bool   // a session or project could not be read, which was told

	closers []func() error
}

// writtenAtOnce is how much of an answer may come out after the context of its command ended.
const writtenAtOnce = 64 << 10

// Write writes to standard output, until the context ends. What is short, as an error, is
// written all the same.
func (a *app) Write(b []byte) (n int, err error) {
	for part := range slices.Chunk(b, writtenAtOnce) {
		if n > 0 && a.ctx.Err() != nil {
			return n, a.ctx.Err()
		}
		written, err := a.Screen.Write(part)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// later has f called when the command is over.
func (a *app) later(f func() error) { a.closers = append(a.closers, f) }

func (a *app) close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		errs = append(errs, a.closers[i]())
	}
	return errors.Join(errs...)
}

// where are the flags that say in which projects a command looks.
type where struct {
	SessionsRoot string `placeholder:"DIR" help:"Directory of projects (default: ~/.amplifier/projects)." group:"Where"`
	Project      string `placeholder:"NAME" help:"Look in this project alone: its name, or the path of its directory." group:"Where"`
}

// projects opens the directory of projects.
func (a *app) projects(w where) (*sessionstore.Projects, error) {
	p, err := sessionstore.OpenProjects(w.SessionsRoot, nil)
	if err == nil {
		a.later(p.Close)
	}
	return p, err
}

// known is projects that fails when w names a directory that is not there.
func (a *app) known(w where) (*sessionstore.Projects, error) {
	if w.SessionsRoot != "" && !isDir(w.SessionsRoot) {
		return nil, noRootError{w.SessionsRoot}
	}
	return a.projects(w)
}

// slug returns the name of the project that w names, or of the working
// directory when it names none and here is set.
func (w where) slug(root string, here bool) (string, error) {
	name := filepath.Base(w.Project) == w.Project && w.Project != "." && w.Project != ".."
	switch {
	case w.Project == "" && !here:
		return "", nil
	case w.Project == "":
		dir, err := os.Getwd()
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		return sessionstore.ProjectSlug(dir), err
	case name && isDir(filepath.Join(root, w.Project)):
		return w.Project, nil
	}
	dir, err := filepath.Abs(w.Project)
	if err != nil {
		return "", err
	}
	if name && !isDir(dir) {
		return w.Project, nil // a name of no project, which nothing is found in
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return sessionstore.ProjectSlug(dir), nil
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}
