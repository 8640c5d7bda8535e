package claude

import (
	"context"
	"errors"
	"io"
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
		joined = append(joined, h)
	}
	return joined, failed
}

// joinFiles makes h the history of the files of all of the copies. A file that cannot be read
// does not exclude the others, and a file whose records another one has is left out.
func joinFiles(ctx context.Context, h *thread.History, copies []thread.History) (failed error) {
	var all []thread.FileSays
	for _, c := range copies {
		says, newest, err := recordsOf(ctx, c.Path)
		if failed = errors.Join(failed, err); err == nil {
			all = append(all, thread.FileSays{Path: c.Path, Says: says, Newest: newest, At: c.Modified})
		}
	}
	kept := thread.Distinct(all) // the first is gone back to before its first line
	if len(kept) == 0 {
		return failed
	}
	var segments []thread.Segment
	size := int64(0)
	for _, k := range kept {
		*h = copies[slices.IndexFunc(copies, func(c thread.History) bool { return c.Path == k.Path })]
		segments, size = append(segments, thread.Segment{Path: k.Path, End: -1}), size+h.Size
	}
	h.Size, h.Files = size, thread.FileSet{h.Path: {Segments: segments}}
	h.Near = func(ctx context.Context, uuid uint64) bool {
		return slices.ContainsFunc(copies, func(c thread.History) bool { return c.Near(ctx, uuid) })
	}
	for _, c := range copies {
		if c.Modified.After(h.Modified) {
			h.Modified = c.Modified
		}
	}
	return errors.Join(failed, setDir(ctx, h))
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
