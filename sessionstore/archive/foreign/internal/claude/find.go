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

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

func (Tool) Find(ctx context.Context, home string) ([]thread.History, error) {
	var all []thread.History
	failed := thread.Entries(ctx, filepath.Join(home, "projects"), func(path string, _ fs.DirEntry) error {
		fi, err := os.Stat(path)
		if err != nil || !fi.IsDir() {
			return err
		}
		found, err := inFolder(ctx, path)
		all = append(all, found...)
		return err
	})
	all, err := joinFolders(ctx, all)
	linkCopies(all)
	return all, errors.Join(failed, err)
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
	var open thread.Folder
	defer open.Close()
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return all, errors.Join(failed, err)
		}
		path := filepath.Join(dir, e.Name())
		id, isHistory := strings.CutSuffix(e.Name(), thread.HistorySuffix)
		if !isHistory {
			continue
		}
		if mode, err := thread.Mode(path, e); err != nil || !mode.IsRegular() {
			failed = errors.Join(failed, err)
			continue
		}
		f, fi, err := open.Open(path, e)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		h, session, err := historyIn(f, fi, path, titles)
		goesOn := ending(f, fi.Size())
		_ = f.Close() // it was only read
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if strings.HasPrefix(e.Name(), agentPrefix) {
			beside[session] = append(beside[session], path)
			continue
		}
		h.ID, h.Folder, h.GoesOn = thread.ID(id), filepath.Base(dir), goesOn
		all = append(all, h)
	}
	for _, e := range entries {
		if e.IsDir() {
			agents, err := agentsBelow(filepath.Join(dir, e.Name(), "subagents"))
			id := thread.ID(e.Name())
			beside[id], failed = append(beside[id], agents...), errors.Join(failed, err)
		}
	}
	for i := range all {
		h := &all[i]
		h.Agents, h.Summaries = beside[h.ID], titles.Summaries
		delete(beside, h.ID)
	}
	for _, session := range slices.Sorted(maps.Keys(beside)) {
		for _, path := range beside[session] {
			f, fi, err := thread.OpenRegular(path)
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			h, _, err := historyIn(f, fi, path, &thread.Facts{})
			_ = f.Close()
			if err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			h.ID, h.Folder, h.Parent = session+"/"+agentID(path), filepath.Base(dir), session
			all = append(all, h)
		}
	}
	near := &recordIndex{}
	for i := range all {
		if all[i].Parent == "" {
			near.paths = append(near.paths, all[i].Path)
		}
		all[i].Near = near.has
	}
	for i := range all {
		all[i].Beside = near.paths
	}
	return all, failed
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

// historyIn returns the facts at the beginning of a file, and its session. It keeps in
// titles the summaries before them: the tool writes them for other sessions.
func historyIn(f io.Reader, fi fs.FileInfo, path string, titles *thread.Facts) (h thread.History, session string, err error) {
	h = thread.History{Path: path, Size: fi.Size(), Modified: fi.ModTime()}
	for l, err := range sound(thread.LinesOf(context.Background(), io.LimitReader(f, thread.MaxBeginning))) {
		if err != nil {
			return h, "", err
		}
		h.Dir, session = cmp.Or(h.Dir, l.cwd), cmp.Or(session, l.session)
		if l.kind == "summary" && l.title != "" && l.leaf != "" {
			titles.Summary(thread.Hash(l.leaf), l.title)
		}
		if h.Dir != "" && session != "" {
			break
		}
	}
	return h, session, nil
}

// maxEnding is the number of bytes at the end of a file that ending reads.
const maxEnding = 64 << 10

// ending returns the sessions in which the session of a file goes on, as the end of the
// file says. It returns none where that cannot be read: the import reports the error.
func ending(f io.ReaderAt, size int64) (goesOn []string) {
	end := make([]byte, min(size, maxEnding))
	if n, _ := f.ReadAt(end, size-int64(len(end))); n < len(end) || !bytes.Contains(end, []byte(`"continued-in"`)) {
		return nil
	}
	for row := range bytes.Lines(end) {
		if l, err := parse(row); err == nil && l.goesOn != "" {
			goesOn = append(goesOn, l.goesOn)
		}
	}
	return goesOn
}
