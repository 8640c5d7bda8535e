package foreign

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
)

// agentPrefix is what the name of a file of a sub-agent begins with.
const agentPrefix = "agent-"

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
			continue
		}
		found, err := inFolder(path, o.Since)
		all, failed = append(all, found...), errors.Join(failed, err)
	}
	return all, failed
}

// inFolder lists the histories of one folder.
func inFolder(dir string, since time.Time) (all []History, failed error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	beside := map[string][]string{} // by session: files of sub-agents, where older tools kept them
	for _, e := range entries {
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
		cwd, session, err := beginning(path)
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
	for i := range all {
		h := &all[i]
		agents, err := agentsBelow(filepath.Join(dir, h.ID, "subagents"))
		h.Agents, failed = append(beside[h.ID], agents...), errors.Join(failed, err)
	}
	return slices.DeleteFunc(all, func(h History) bool { return h.Modified.Before(since) }), failed
}

// agentsBelow lists the files of sub-agents below a directory.
func agentsBelow(dir string) (all []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), agentPrefix) && strings.HasSuffix(e.Name(), historySuffix) {
			all = append(all, path)
		}
		return nil
	})
	return all, err
}

// beginning returns the working directory and the session that a file names first.
func beginning(path string) (cwd, session string, err error) {
	f, err := os.Open(path)
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
		}
	}
	return cwd, session, nil
}
