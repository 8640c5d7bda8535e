package foreign

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Claude Code keeps a session in the folder of the directory that it runs in. Where a
// session went on in another directory, as in a worktree and its repository, a copy of
// its file stands in two folders.

// fileSays is what one of several files with one id says.
type fileSays struct {
	path   string   // of files that say the same, the first path stands for them
	says   []uint64 // hashes of what its records say, in order
	newest time.Time
	at     time.Time // when the file changed last
}

// distinct returns the files that have something that no other one has, the newest last.
// Of files that say the same it keeps one.
func distinct[T any](all []T, of func(T) fileSays) []T {
	all = slices.SortedStableFunc(slices.Values(all), func(x, y T) int {
		a, b := of(x), of(y)
		return cmp.Or(a.newest.Compare(b.newest), a.at.Compare(b.at), cmp.Compare(b.path, a.path))
	})
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool {
		c := of(x)
		return slices.ContainsFunc(all, func(y T) bool {
			o := of(y)
			return containsAll(o.says, c.says) && (len(o.says) > len(c.says) || o.path < c.path)
		})
	})
}

// joinFolders makes one history of all files with one id, and gives it the sub-agents
// beside each of them. Its project is that of the folder of the file that goes on
// furthest.
func joinFolders(ctx context.Context, all []History) (joined []History, failed error) {
	first := map[string]int{} // by id: the index in joined
	copies := map[string][]History{}
	add := func(h History) {
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
			failed = errors.Join(failed, h.join(ctx, copies[h.ID], agents))
		}
		failed = errors.Join(failed, h.joinAgents(ctx))
	}
	return joined, failed
}

// join makes h the history of the files of all of the copies, with agents beside those
// that the copies have.
func (h *History) join(ctx context.Context, all []History, agents []string) error {
	var paths []string
	for _, c := range all {
		paths, agents = append(paths, c.Path), append(agents, c.Agents...)
	}
	kept, failed := joinCopies(ctx, paths)
	if len(kept) == 0 {
		return failed
	}
	last := kept[len(kept)-1]
	index := &recordIndex{}
	for _, c := range all {
		if c.Path == last.path {
			*h = c
		}
		index.folders = append(index.folders, c.near)
	}
	h.Agents, h.inFolder, h.near = agents, true, index
	failed = errors.Join(failed, h.setDir(ctx))
	h.files = fileSet{h.Path: {segments: segmentsOf(kept)}}
	h.Size = 0
	for _, c := range all {
		if slices.ContainsFunc(kept, func(k fileSays) bool { return k.path == c.Path }) {
			h.Size += c.Size
		}
		if c.Modified.After(h.Modified) {
			h.Modified = c.Modified
		}
	}
	return failed
}

func segmentsOf(kept []fileSays) (all []segment) {
	for _, c := range kept {
		all = append(all, whole(c.path)...)
	}
	return all
}

// joinAgents makes one of the files of each sub-agent.
func (h *History) joinAgents(ctx context.Context) error {
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
			path = kept[len(kept)-1].path
			if h.files == nil {
				h.files = fileSet{}
			}
			h.files[path] = together{segments: segmentsOf(kept)}
		}
		if len(paths) > 0 {
			agents = append(agents, path)
		}
	}
	h.Agents = agents
	return failed
}

// joinCopies returns the files whose records no other one of them has, the newest last.
// One that cannot be read keeps no other one out.
func joinCopies(ctx context.Context, paths []string) (kept []fileSays, failed error) {
	var all []fileSays
	for _, path := range paths {
		_, says, newest, err := claudeRecords(ctx, path)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		c := fileSays{path: path, says: says, newest: newest}
		if file, fi, err := openRegular(path); err == nil {
			c.at = fi.ModTime()
			_ = file.Close() // it was not read
		}
		all = append(all, c)
	}
	return distinct(all, func(c fileSays) fileSays { return c }), failed
}

// containsAll reports whether all has each of some; both are in order.
func containsAll(all, some []uint64) bool {
	for len(some) > 0 {
		i, found := slices.BinarySearch(all, some[0])
		if !found {
			return false
		}
		all, some = all[i+1:], some[1:]
	}
	return true
}

var notInFolder = regexp.MustCompile(`[^a-zA-Z0-9]`)

// setDir takes for a working directory the first one of the file that its folder is
// named after.
func (h *History) setDir(ctx context.Context) error {
	r, size, leave, err := openPlain(ctx, h.Path)
	if err != nil {
		return err
	}
	defer leave()
	for l, err := range claudeLines(ctx, r, size) {
		if err != nil {
			return err
		}
		if l.cwd != "" && notInFolder.ReplaceAllString(l.cwd, "-") == h.Folder {
			h.Dir, h.inFolder = l.cwd, false
			return nil
		}
	}
	return nil
}
