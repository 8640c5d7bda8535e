package foreign

import (
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
	return slices.DeleteFunc(all, func(h History) bool { return h.Modified.Before(o.Since) }), errors.Join(failed, err)
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
