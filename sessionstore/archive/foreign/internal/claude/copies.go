package claude

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Claude Code keeps a session in the folder of the directory that it runs in. When a
// session went on in another directory, as in a worktree and its repository, two folders
// hold copies of its file.

// joinFolders makes one history of all files with one id, with its sub-agents. Its project is
// the project of the folder whose file goes on furthest.
func joinFolders(ctx context.Context, all []thread.History, agents map[string][]string) (joined []thread.History, failed error) {
	copies := map[string][]thread.History{}
	for _, h := range all {
		copies[h.ID] = append(copies[h.ID], h)
	}
	for _, h := range all {
		of := copies[h.ID]
		if delete(copies, h.ID); of == nil {
			continue
		}
		if len(of) > 1 {
			failed = errors.Join(failed, joinFiles(ctx, &h, of))
		}
		h.Agents = agents[h.ID]
		failed = errors.Join(failed, joinAgents(ctx, &h))
		joined = append(joined, h)
	}
	return joined, failed
}

// joinFiles makes h the history of the files of all of the copies.
func joinFiles(ctx context.Context, h *thread.History, copies []thread.History) error {
	var paths []string
	for _, c := range copies {
		paths = append(paths, c.Path)
	}
	path, segments, failed := together(ctx, paths)
	if path == "" {
		return failed
	}
	*h = copies[slices.Index(paths, path)]
	h.Size, h.Files = 0, thread.FileSet{path: {Segments: segments}}
	h.Near = func(ctx context.Context, uuid uint64) bool {
		return slices.ContainsFunc(copies, func(c thread.History) bool { return c.Near(ctx, uuid) })
	}
	for _, c := range copies {
		if slices.ContainsFunc(segments, func(s thread.Segment) bool { return s.Path == c.Path }) {
			h.Size += c.Size
		}
		if c.Modified.After(h.Modified) {
			h.Modified = c.Modified
		}
	}
	return errors.Join(failed, setDir(ctx, h))
}

// joinAgents makes one of the files of each sub-agent.
func joinAgents(ctx context.Context, h *thread.History) (failed error) {
	byName := map[string][]string{}
	for _, path := range h.Agents {
		byName[filepath.Base(path)] = append(byName[filepath.Base(path)], path)
	}
	var agents []string
	for _, path := range h.Agents {
		paths := byName[filepath.Base(path)]
		delete(byName, filepath.Base(path))
		if len(paths) > 1 {
			newest, segments, err := together(ctx, paths)
			if path, failed = newest, errors.Join(failed, err); h.Files == nil {
				h.Files = thread.FileSet{}
			}
			h.Files[path] = thread.Together{Segments: segments}
		}
		if len(paths) > 0 && path != "" {
			agents = append(agents, path)
		}
	}
	h.Agents = agents
	return failed
}

// together returns the segments to read for files with one name, and the newest of them; ""
// where none can be read. A file that cannot be read does not exclude the others, and a file
// whose records another one has is left out. The first is gone back to before its first line.
func together(ctx context.Context, paths []string) (newest string, segments []thread.Segment, failed error) {
	var all []thread.FileSays
	for _, path := range paths {
		says, at, err := recordsOf(ctx, path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		c := thread.FileSays{Path: path, Says: says, Newest: at}
		if fi, err := os.Stat(path); err == nil {
			c.At = fi.ModTime()
		}
		all = append(all, c)
	}
	for _, c := range thread.Distinct(all) {
		newest, segments = c.Path, append(segments, thread.Segment{Path: c.Path, End: -1})
	}
	return newest, segments, failed
}

var notInFolder = regexp.MustCompile(`[^a-zA-Z0-9]`)

// setDir takes for a working directory the first one of the file that its folder is
// named after, or none: then the folder names the project.
func setDir(ctx context.Context, h *thread.History) error {
	h.Dir = ""
	r, size, leave, err := thread.OpenPlain(ctx, h.Path)
	if err != nil {
		return err
	}
	defer leave()
	for l, err := range soundLines(ctx, io.NewSectionReader(r, 0, size)) {
		if err != nil {
			return err
		}
		if l.cwd != "" && notInFolder.ReplaceAllString(l.cwd, "-") == h.Folder {
			h.Dir = l.cwd
			return nil
		}
	}
	return nil
}
