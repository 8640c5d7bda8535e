package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore/projects"
)

// share names what takes room on the disk: files of one kind, of a session or of all, which a
// command frees.
type share struct{ project, session, what, command string }

// shareOf returns the share of a file, by its path below the sessions directory of a project.
func shareOf(project string, path []string) share {
	session, name, last := path[0], path[min(1, len(path)-1)], path[len(path)-1]
	switch {
	case session == ".trash":
		return share{project, "", "trash", "trash empty"}
	case len(path) == 1 || strings.HasPrefix(session, "."):
		return share{project, "", "bookkeeping", ""}
	case strings.Contains(last, ".bak-"):
		return share{project, session, "kept histories", "undo --drop"}
	case strings.HasSuffix(last, ".backup"):
		return share{project, session, "backups", "delete"}
	case len(path) > 2 && (name == "import" || strings.HasPrefix(name, "import_")):
		return share{project, session, "originals", "delete"}
	case name == "events.jsonl" || name == "context-intelligence":
		return share{project, session, "logs", "delete"}
	}
	return share{project, session, "sessions", "delete"}
}

// frees returns the command that frees a share, "" where none does.
func (s share) frees() string {
	if s.command == "" {
		return ""
	}
	args := []string{s.project}
	if s.session != "" {
		args = append(args, host.Argument(s.session)...)
	}
	return "sessions " + s.command + " --project=" + host.Line("", args...)
}

// addShares adds the sizes of the files of a project, but for those that vanish meanwhile. What
// cannot be read hides nothing else; the error joins all of that.
func addShares(sums map[share]int64, dir, project string, bySession bool) (failed error) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error { // it goes on after each error
		var fi fs.FileInfo
		if err == nil && !e.IsDir() {
			fi, err = e.Info()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", dir, err))
		}
		if err != nil || fi == nil {
			return nil
		}
		s := shareOf(project, strings.Split(path, "/"))
		if !bySession {
			s.session, s.command = "", strings.Replace(s.command, "delete", "cleanup", 1)
		}
		sums[s] += fi.Size()
		return nil
	})
	return failed
}

// distinct returns projects without symlinks to others of them.
func distinct(root string, slugs []string) []string {
	root, _ = filepath.EvalSymlinks(root)
	return slices.DeleteFunc(slices.Clone(slugs), func(slug string) bool {
		at, err := filepath.EvalSymlinks(filepath.Join(root, slug, "sessions"))
		of := filepath.Base(filepath.Dir(at))
		return err == nil && of != slug && slices.Contains(slugs, of) && at == filepath.Join(root, of, "sessions")
	})
}

// sizes shows what a project, or all, takes of the disk, or what its sessions do.
func (a *app) sizes(p *projects.Projects, slug string, bySession bool, limit int) (err error) {
	slugs, sums, failed := []string{slug}, map[share]int64{}, error(nil)
	if slug == "" {
		if slugs, err = p.Slugs(a.ctx); err != nil {
			return err
		}
	}
	for _, project := range distinct(p.Dir(), slugs) {
		failed = errors.Join(failed, addShares(sums, filepath.Join(p.Dir(), project, "sessions"), project, bySession))
	}
	a.warn(failed)
	order := slices.SortedFunc(maps.Keys(sums), func(x, y share) int {
		return cmp.Or(cmp.Compare(sums[y], sums[x]), cmp.Compare(x.project+x.session+x.what, y.project+y.session+y.what))
	})
	if limit > 0 {
		order = order[:min(limit, len(order))]
	}
	all, rows := list{}, [][]string{}
	for _, s := range order {
		all = append(all, object{{"project", s.project}, {"session_id", known(s.session)}, {"what", s.what}, {"bytes", sums[s]}, {"frees", s.frees()}})
		rows = append(rows, []string{s.project, s.session, s.what, a.bytes(sums[s]), s.frees()})
	}
	project := a.projectColumn(2)
	project.Once = false
	return a.list(object{{"by", "size"}, {"rows", all}}, "No sessions found.", []screen.Column{
		project,
		a.idColumn(),
		{Title: "What", Min: 8, Tint: screen.In(screen.Cyan)},
		{Title: "Size", Right: true},
		{Title: "Command that frees it", Min: 20, Drop: 1},
	}, rows)
}

// bytes returns a size for people, and for programs the number.
func (a *app) bytes(n int64) string {
	if a.Terminal() {
		return size(n)
	}
	return fmt.Sprint(n)
}
