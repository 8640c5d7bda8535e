package claude

import (
	"context"
	"errors"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Claude Code keeps a session in the folder of the directory that it runs in. When a
// session went on in another directory, as in a worktree and its repository, two folders
// hold copies of its file.

// joinFolders makes one history of all files with one id, and gives it the sub-agents
// beside each of them. Its file is the longest, whose folder names its project.
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

// joinFiles makes h the history of the longest of the copies, with agents beside those that
// the copies have.
func joinFiles(ctx context.Context, h *thread.History, all []thread.History, agents []string) error {
	var paths []string
	for _, c := range all {
		paths, agents = append(paths, c.Path), append(agents, c.Agents...)
	}
	longest, failed := thread.Longest(ctx, paths)
	if longest == "" {
		return failed
	}
	*h = all[slices.Index(paths, longest)]
	h.Agents, h.InFolder = agents, true
	h.Shorter = slices.DeleteFunc(paths, func(path string) bool { return path == longest })
	h.Beside = nil
	for _, c := range all {
		h.Beside = append(h.Beside, c.Beside...)
	}
	h.Near = func(ctx context.Context, uuid uint64) bool {
		return slices.ContainsFunc(all, func(c thread.History) bool { return c.Near(ctx, uuid) })
	}
	return errors.Join(failed, setDir(ctx, h))
}

// joinAgents takes the longest of the files of each sub-agent.
func joinAgents(ctx context.Context, h *thread.History) (failed error) {
	byName := map[string][]string{}
	for _, path := range h.Agents {
		byName[agentID(path)] = append(byName[agentID(path)], path)
	}
	if len(byName) == len(h.Agents) {
		return nil
	}
	var agents []string
	for _, path := range h.Agents {
		paths := byName[agentID(path)]
		delete(byName, agentID(path))
		if len(paths) > 1 {
			longest, err := thread.Longest(ctx, paths)
			failed = errors.Join(failed, err)
			if path = longest; path == "" {
				continue
			}
			h.Shorter = append(h.Shorter, slices.DeleteFunc(paths, func(p string) bool { return p == longest })...)
		}
		if len(paths) > 0 {
			agents = append(agents, path)
		}
	}
	h.Agents = agents
	return failed
}

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
