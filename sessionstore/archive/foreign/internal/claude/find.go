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

func (Tool) Find(ctx context.Context, home string, since time.Time) ([]thread.History, error) {
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
	for _, f := range folders {
		if err := ctx.Err(); err != nil {
			return all, errors.Join(failed, err)
		}
		path := filepath.Join(top, f.Name())
		if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
			failed = errors.Join(failed, err)
			continue
		}
		found, err := inFolder(ctx, path)
		all, failed = append(all, found...), errors.Join(failed, err)
	}
	all, err = joinFolders(ctx, all)
	linkCopies(all)
	return slices.DeleteFunc(all, func(h thread.History) bool { return h.Modified.Before(since) }), errors.Join(failed, err)
}

// linkCopies gives each history that is the copy in which another one goes on its origin.
func linkCopies(all []thread.History) {
	origins := map[string]*thread.History{}
	for i := range all {
		for _, id := range all[i].GoesOn {
			from := &thread.History{ID: all[i].ID, Path: all[i].Path}
			at := from
			for at != nil && at.ID != id {
				at = origins[at.ID]
			}
			if at == nil && origins[id] == nil { // else they lead back, as in damaged files
				origins[id] = from
			}
		}
	}
	for i := range all {
		all[i].Origin = origins[all[i].ID]
	}
}

// InFolder lists the histories of one folder.
func inFolder(ctx context.Context, dir string) (all []thread.History, failed error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	titles := &thread.Facts{}
	beside := map[string][]string{} // by session: files of sub-agents, where older tools kept them
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
		if strings.HasPrefix(e.Name(), agentPrefix) {
			beside[begin.session] = append(beside[begin.session], path)
			continue
		}
		all = append(all, thread.History{
			ID: id, Path: path, Dir: begin.cwd, Folder: filepath.Base(dir), Size: fi.Size(), Modified: fi.ModTime(),
			GoesOn: ending(path), First: begin.first, Compacted: begin.compacted,
		})
	}
	for _, e := range entries {
		if e.IsDir() {
			agents, err := agentsBelow(filepath.Join(dir, e.Name(), "subagents"))
			beside[e.Name()], failed = append(beside[e.Name()], agents...), errors.Join(failed, err)
		}
	}
	for i := range all {
		h := &all[i]
		h.Agents, h.Summaries = beside[h.ID], titles.Summaries
		delete(beside, h.ID)
	}
	for _, session := range slices.Sorted(maps.Keys(beside)) {
		for _, path := range beside[session] {
			h, err := orphan(path, session)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			h.Folder = filepath.Base(dir)
			all = append(all, h)
		}
	}
	near := &recordIndex{}
	for i := range all {
		near.paths = append(append(near.paths, all[i].Path), all[i].Agents...)
		all[i].Near = near.has
	}
	forks(all)
	return all, failed
}

// orphan returns the history of a sub-agent whose session has no file.
func orphan(path, session string) (thread.History, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return thread.History{}, err
	}
	begin, err := beginning(path, &thread.Facts{})
	return thread.History{ID: session + "/" + agentID(path), Path: path, Dir: begin.cwd, Size: fi.Size(), Modified: fi.ModTime(), Parent: session}, err
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
	for l, err := range sound(thread.LinesOf(context.Background(), io.LimitReader(f, thread.MaxBeginning))) {
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
