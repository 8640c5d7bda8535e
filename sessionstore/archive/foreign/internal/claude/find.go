package claude

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// find lists the histories below the directory of the tool that were changed since.
func find(ctx context.Context, home string, since time.Time) ([]thread.History, error) {
	top := filepath.Join(home, "projects")
	folders, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []thread.History
	var failed error
	agents := map[string][]string{} // files of sub-agents, by session
	for _, f := range folders {
		if err := ctx.Err(); err != nil {
			return all, errors.Join(failed, err)
		}
		path := filepath.Join(top, f.Name())
		if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
			failed = errors.Join(failed, err)
			continue
		}
		found, err := inFolder(ctx, path, agents)
		all, failed = append(all, found...), errors.Join(failed, err)
	}
	orphans, err := orphansOf(top, all, agents)
	all = append(all, orphans...)
	setNear(top, all, agents)
	slices.SortStableFunc(all, func(a, b thread.History) int { return strings.Compare(a.Folder, b.Folder) })
	all, joined := joinFolders(ctx, all, agents)
	linkCopies(all)
	return slices.DeleteFunc(all, func(h thread.History) bool { return h.Modified.Before(since) }), errors.Join(failed, err, joined)
}

// folderOf returns the name of the tool's folder in which a file is, at any depth.
func folderOf(top, path string) string {
	folder, _, _ := strings.Cut(strings.TrimPrefix(path, top+string(filepath.Separator)), string(filepath.Separator))
	return folder
}

// setNear lets each history find the records of the files of its folder.
func setNear(top string, all []thread.History, agents map[string][]string) {
	paths, near := map[string][]string{}, map[string]func(ctx context.Context, uuid uint64) bool{} // by folder
	for _, h := range all {
		paths[h.Folder] = append(paths[h.Folder], h.Path)
	}
	for _, of := range agents {
		for _, path := range of {
			paths[folderOf(top, path)] = append(paths[folderOf(top, path)], path)
		}
	}
	for folder := range paths {
		near[folder] = nearIn(paths[folder])
	}
	for i := range all {
		all[i].Near = near[all[i].Folder]
	}
}

// linkCopies gives each history that is the copy in which another one goes on its origin.
func linkCopies(all []thread.History) {
	origins := map[string]*thread.History{}
	for i := range all {
		for _, id := range all[i].GoesOn {
			if origins[id] == nil && id != all[i].ID {
				origins[id] = &thread.History{ID: all[i].ID, Path: all[i].Path}
			}
		}
	}
	for i := range all {
		all[i].Origin = origins[all[i].ID]
	}
}

// inFolder lists the histories of one folder, and adds the files of sub-agents to agents.
func inFolder(ctx context.Context, dir string, agents map[string][]string) (all []thread.History, failed error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	titles := &thread.Facts{}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return all, errors.Join(failed, err)
		}
		path := filepath.Join(dir, e.Name())
		id, isHistory := strings.CutSuffix(e.Name(), thread.HistorySuffix)
		if !isHistory {
			continue
		}
		fi, err := os.Stat(path)
		if err != nil || !fi.Mode().IsRegular() {
			failed = errors.Join(failed, err)
			continue
		}
		begin, err := beginning(path, titles)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if strings.HasPrefix(e.Name(), agentPrefix) { // where older tools kept them
			agents[begin.session] = append(agents[begin.session], path)
			continue
		}
		all = append(all, thread.History{
			ID: id, Path: path, Dir: begin.cwd, Folder: filepath.Base(dir), Size: fi.Size(), Modified: fi.ModTime(),
			GoesOn: ending(path), First: begin.first, Compacted: begin.compacted,
		})
	}
	for _, e := range entries {
		if e.IsDir() {
			below, err := agentsBelow(filepath.Join(dir, e.Name(), "subagents"))
			agents[e.Name()], failed = append(agents[e.Name()], below...), errors.Join(failed, err)
		}
	}
	for i := range all {
		all[i].Summaries = titles.Summaries
	}
	forks(all)
	return all, failed
}

// orphansOf returns the histories of sub-agents whose session has no file.
func orphansOf(top string, all []thread.History, agents map[string][]string) (orphans []thread.History, failed error) {
	for _, session := range slices.Sorted(maps.Keys(agents)) {
		if slices.ContainsFunc(all, func(h thread.History) bool { return h.ID == session }) {
			continue
		}
		for _, path := range agents[session] {
			fi, err := os.Stat(path)
			begin, unread := beginning(path, &thread.Facts{})
			if err = errors.Join(err, unread); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			id, _, _ := agentIn(path)
			orphans = append(orphans, thread.History{
				ID: session + "/" + id, Path: path, Dir: begin.cwd, Folder: folderOf(top, path), Size: fi.Size(), Modified: fi.ModTime(), Parent: session,
			})
		}
	}
	return orphans, failed
}

// agentsBelow lists the files of sub-agents below a directory. A folder that cannot be read
// leaves out only its own files.
func agentsBelow(dir string) (all []string, failed error) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil {
			failed = errors.Join(failed, err)
			return nil
		}
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), agentPrefix) && strings.HasSuffix(e.Name(), thread.HistorySuffix) {
			all = append(all, path)
		}
		return nil
	})
	return all, failed
}

// begin is what the beginning of a file names first.
type begin struct {
	cwd, session string // the working directory and the session
	first        uint64 // hash of a record, see says
	compacted    bool   // the record is a compaction
}

// beginning returns what the beginning of a file names first. It keeps in titles the
// summaries before that: the tool writes them for other sessions.
func beginning(path string, titles *thread.Facts) (b begin, err error) {
	f, _, err := thread.OpenRegular(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	for l, err := range soundLines(context.Background(), io.LimitReader(f, thread.MaxBeginning)) {
		if err != nil {
			return begin{}, err
		}
		b.cwd, b.session = cmp.Or(b.cwd, l.cwd), cmp.Or(b.session, l.session)
		if b.first == 0 && inChain(l.kind) && l.uuid != "" && !l.sidechain {
			b.first, b.compacted = l.says(), l.kind == "system" && l.subtype == "compact_boundary"
		}
		if l.kind == "summary" && l.title != "" && l.leaf != "" {
			titles.Summary(thread.Hash(l.leaf), l.title)
		}
		if b.cwd != "" && b.session != "" {
			break
		}
	}
	return b, nil
}

// maxEnding is the number of bytes at the end of a file that ending reads.
const maxEnding = 64 << 10

// ending returns the sessions in which the session of a file goes on, as the end of the
// file says. It returns none for a file that cannot be read: the import reports the error.
func ending(path string) (goesOn []string) {
	f, fi, err := thread.OpenRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	end := make([]byte, min(fi.Size(), maxEnding))
	if n, _ := f.ReadAt(end, fi.Size()-int64(len(end))); n < len(end) || !bytes.Contains(end, []byte(`"continued-in"`)) {
		return nil
	}
	for row := range bytes.Lines(end) {
		if l, err := parse(row); err == nil && l.goesOn != "" {
			goesOn = append(goesOn, l.goesOn)
		}
	}
	return goesOn
}
