package claude

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Claude Code keeps a session in the folder of the directory that it runs in. When a
// session went on in another directory, as in a worktree and its repository, two folders
// hold copies of its file.

// joinFolders makes one history of all files with one id, and gives it the sub-agents
// beside each of them. Its project is the project of the folder whose file goes on
// furthest.
func joinFolders(ctx context.Context, all []thread.History) (joined []thread.History, failed error) {
	first := map[string]int{} // by id: the index in joined
	copies := map[string][]thread.History{}
	add := func(h thread.History) {
		if copies[h.ID] = append(copies[h.ID], h); len(copies[h.ID]) == 1 {
			first[h.ID] = len(joined)
			joined = append(joined, h)
		}
	}
	for _, h := range all {
		if h.Parent == "" {
			add(h)
		}
	}
	for _, h := range all {
		i, known := first[h.Parent]
		switch {
		case h.Parent == "":
		case known: // a sub-agent whose session has its file in another folder
			joined[i].Agents = append(joined[i].Agents, h.Path)
		default:
			add(h)
		}
	}
	for i := range joined {
		h := &joined[i]
		if n := len(copies[h.ID]); n > 1 {
			agents := h.Agents[len(copies[h.ID][0].Agents):] // whose session has its file elsewhere
			failed = errors.Join(failed, joinFiles(ctx, h, copies[h.ID], agents))
		}
		failed = errors.Join(failed, joinAgents(ctx, h))
	}
	return joined, failed
}

// joinFiles makes h the history of the files of all of the copies, with agents beside those
// that the copies have.
func joinFiles(ctx context.Context, h *thread.History, all []thread.History, agents []string) error {
	var paths []string
	for _, c := range all {
		paths, agents = append(paths, c.Path), append(agents, c.Agents...)
	}
	kept, failed := joinCopies(ctx, paths)
	if len(kept) == 0 {
		return failed
	}
	last := kept[len(kept)-1]
	*h = all[slices.Index(paths, last)]
	h.Agents, h.InFolder = agents, true
	h.Near = func(ctx context.Context, uuid uint64) bool {
		return slices.ContainsFunc(all, func(c thread.History) bool { return c.Near(ctx, uuid) })
	}
	failed = errors.Join(failed, setDir(ctx, h))
	h.Files = thread.FileSet{h.Path: {Segments: segmentsOf(kept)}}
	h.Size = 0
	for _, c := range all {
		if slices.Contains(kept, c.Path) {
			h.Size += c.Size
		}
		if c.Modified.After(h.Modified) {
			h.Modified = c.Modified
		}
	}
	return failed
}

func segmentsOf(kept []string) (all []thread.Segment) {
	for _, path := range kept {
		all = append(all, thread.Whole(path)...)
	}
	return all
}

// joinAgents makes one of the files of each sub-agent.
func joinAgents(ctx context.Context, h *thread.History) error {
	byName := map[string][]string{}
	for _, path := range h.Agents {
		byName[filepath.Base(path)] = append(byName[filepath.Base(path)], path)
	}
	if len(byName) == len(h.Agents) {
		return nil
	}
	var failed error
	var agents []string
	for _, path := range h.Agents {
		paths := byName[filepath.Base(path)]
		delete(byName, filepath.Base(path))
		if len(paths) > 1 {
			kept, err := joinCopies(ctx, paths)
			failed = errors.Join(failed, err)
			if len(kept) == 0 {
				continue
			}
			path = kept[len(kept)-1]
			if h.Files == nil {
				h.Files = thread.FileSet{}
			}
			h.Files[path] = thread.Together{Segments: segmentsOf(kept)}
		}
		if len(paths) > 0 {
			agents = append(agents, path)
		}
	}
	h.Agents = agents
	return failed
}

// joinCopies returns the files whose records no other one of them has, the newest last.
func joinCopies(ctx context.Context, paths []string) (kept []string, failed error) {
	return thread.Distinct(paths, func(path string) ([]uint64, time.Time, error) {
		_, says, newest, err := recordsOf(ctx, path)
		return says, newest, err
	})
}

var notInFolder = regexp.MustCompile(`[^a-zA-Z0-9]`)

// setDir takes for a working directory the first one of the file that its folder is
// named after.
func setDir(ctx context.Context, h *thread.History) error {
	for l, err := range sound(thread.LinesIn(ctx, h.Path)) {
		if err != nil {
			return err
		}
		if l.cwd != "" && notInFolder.ReplaceAllString(l.cwd, "-") == h.Folder {
			h.Dir, h.InFolder = l.cwd, false
			return nil
		}
	}
	return nil
}
