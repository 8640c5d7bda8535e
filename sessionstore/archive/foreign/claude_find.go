package foreign

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
)

// findClaude lists the histories below the directory of Claude Code.
func findClaude(ctx context.Context, o FindOptions) ([]History, error) {
	top := filepath.Join(o.Home, "projects")
	folders, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []History
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
	return slices.DeleteFunc(all, func(h History) bool { return h.Modified.Before(o.Since) }), errors.Join(failed, err)
}

// linkCopies tells each history that is the copy in which another one goes on of that.
func linkCopies(all []History) {
	origins := map[string]*History{}
	for i := range all {
		for _, id := range all[i].goesOn {
			from := &History{ID: all[i].ID, Path: all[i].Path}
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
		all[i].origin = origins[all[i].ID]
	}
}

// inFolder lists the histories of one folder.
func inFolder(ctx context.Context, dir string) (all []History, failed error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	titles := &facts{}
	beside := map[string][]string{} // by session: files of sub-agents, where older tools kept them
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return all, errors.Join(failed, err)
		}
		path := filepath.Join(dir, e.Name())
		id, history := strings.CutSuffix(e.Name(), historySuffix)
		if !history {
			continue
		}
		fi, err := os.Stat(path)
		if err != nil || !fi.Mode().IsRegular() {
			failed = errors.Join(failed, err)
			continue
		}
		cwd, session, err := beginning(path, titles)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if strings.HasPrefix(e.Name(), agentPrefix) {
			beside[session] = append(beside[session], path)
			continue
		}
		all = append(all, History{
			Tool: Claude, ID: id, Path: path, Dir: cwd, Folder: filepath.Base(dir), Size: fi.Size(), Modified: fi.ModTime(),
			goesOn: ending(path),
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
		h.Agents, h.summaries = beside[h.ID], titles.summaries
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
		all[i].near = near
	}
	return all, failed
}

// orphan returns the history of a sub-agent whose session has no file.
func orphan(path, session string) (History, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return History{}, err
	}
	cwd, _, err := beginning(path, &facts{})
	id, _, _ := claudeAgent(path)
	return History{Tool: Claude, ID: session + "/" + id, Path: path, Dir: cwd, Size: fi.Size(), Modified: fi.ModTime(), Parent: session}, err
}

// agentsBelow lists the files of sub-agents below a directory. What cannot be read
// keeps no other one out.
func agentsBelow(dir string) (all []string, failed error) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil {
			failed = errors.Join(failed, err)
			return nil
		}
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), agentPrefix) && strings.HasSuffix(e.Name(), historySuffix) {
			all = append(all, path)
		}
		return nil
	})
	return all, failed
}

// beginning returns the working directory and the session that a file names first. It
// keeps in titles what stands before that: the tool writes them for other sessions.
func beginning(path string, titles *facts) (cwd, session string, err error) {
	f, _, err := openRegular(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	in := jsonl.NewReader(io.LimitReader(f, maxBeginning))
	for cwd == "" || session == "" {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", "", err
		}
		if got, err := parseClaude(l.Bytes); err == nil {
			cwd, session = firstOf(cwd, got.cwd), firstOf(session, got.session)
			if got.kind == "summary" && got.title != "" && got.leaf != "" {
				titles.summary(hash(got.leaf), got.title)
			}
		}
	}
	return cwd, session, nil
}

// maxEnding is how much of a file is read for what it says last, in bytes.
const maxEnding = 64 << 10

// ending returns the sessions in which that of a file goes on, as the end of it says. What
// cannot be read says nothing here: the import tells of that.
func ending(path string) (goesOn []string) {
	f, fi, err := openRegular(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	end := make([]byte, min(fi.Size(), maxEnding))
	if n, _ := f.ReadAt(end, fi.Size()-int64(len(end))); n < len(end) || !bytes.Contains(end, []byte(`"continued-in"`)) {
		return nil
	}
	for row := range bytes.Lines(end) {
		if l, err := parseClaude(row); err == nil && l.goesOn != "" {
			goesOn = append(goesOn, l.goesOn)
		}
	}
	return goesOn
}
