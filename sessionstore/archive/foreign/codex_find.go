package foreign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
)

const (
	codexPrefix = "rollout-"
	codexIndex  = "session_index.jsonl" // the names of the sessions
	codexFolder = "-codex"              // for files that name no directory
)

// findCodex lists the histories below the directory of Codex. A file of a sub-agent
// belongs to the history of the session that began it, where that is there.
func findCodex(ctx context.Context, o FindOptions) ([]History, error) {
	var found []*codexFound
	var failed error
	for _, folder := range []string{"sessions", "archived_sessions"} {
		some, err := codexBelow(ctx, filepath.Join(o.Home, folder))
		found, failed = append(found, some...), errors.Join(failed, err)
	}
	found, err := joinThreads(ctx, found)
	failed = errors.Join(failed, err)
	titles, err := codexTitles(filepath.Join(o.Home, codexIndex))
	failed = errors.Join(failed, err)
	byID := map[string]*codexFound{}
	for _, f := range found {
		f.Title = titles[f.ID]
		byID[f.ID] = f
	}
	begun := map[string][]*codexFound{} // by the session that began them
	var all []*codexFound
	for _, f := range found {
		if parent := byID[f.thread.spawner]; parent != nil && !isAncestor(byID, f, parent) {
			begun[parent.ID] = append(begun[parent.ID], f)
			continue
		}
		all = append(all, f)
	}
	files := fileSet{}
	for _, f := range found {
		files[f.Path] = together{f.segments, f.broken, f.Title}
	}
	var histories []History
	for _, f := range all {
		f.files = files
		f.adopt(begun, f.ID)
		if !f.Modified.Before(o.Since) {
			histories = append(histories, f.History)
		}
	}
	return histories, failed
}

// isAncestor reports whether f is one of those that began a session, or the
// session, which happens in damaged files.
func isAncestor(byID map[string]*codexFound, f, of *codexFound) bool {
	for range len(byID) {
		if of == nil {
			return false
		}
		if of.ID == f.ID {
			return true
		}
		of = byID[of.thread.spawner]
	}
	return of != nil
}

// adopt adds the files of the sub-agents that a session began, and of theirs.
func (f *codexFound) adopt(begun map[string][]*codexFound, id string) {
	for _, sub := range begun[id] {
		f.Agents = append(f.Agents, sub.Path)
		if sub.Modified.After(f.Modified) {
			f.Modified = sub.Modified
		}
	}
	for _, sub := range begun[id] {
		f.adopt(begun, sub.ID)
	}
}

// codexBelow lists the files below a directory, in the order of their paths.
func codexBelow(ctx context.Context, dir string) (found []*codexFound, failed error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, err)
			if ctx.Err() != nil {
				return fs.SkipAll
			}
			return nil
		}
		name := strings.TrimSuffix(e.Name(), packedSuffix)
		if !e.Type().IsRegular() || !strings.HasPrefix(name, codexPrefix) || !strings.HasSuffix(name, historySuffix) {
			return nil
		}
		if name != e.Name() { // compressed: what stands beside it is newer
			if _, err := os.Stat(strings.TrimSuffix(path, packedSuffix)); err == nil {
				return nil
			}
		}
		f, err := codexBeginning(ctx, path, e)
		if err == nil && f != nil {
			found = append(found, f)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", path, err))
		}
		return nil
	})
	return found, errors.Join(failed, err)
}

// codexBeginning reads what a file says first.
func codexBeginning(ctx context.Context, path string, e fs.DirEntry) (*codexFound, error) {
	fi, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it was compressed or archived meanwhile
	}
	if err != nil {
		return nil, err
	}
	file, _, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, leave, err := plainReader(file)
	if err != nil {
		return nil, err
	}
	defer leave()
	s, f := scanning{t: &table{end: -1}, report: newReport()}, &codexFormat{}
	in := jsonl.NewReader(io.LimitReader(contextReader{ctx, r}, maxBeginning))
	for s.t.thread.id == "" || s.t.cwd == "" {
		l, err := in.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(pyjson.TrimSpace(l.Bytes)) > 0 {
			_ = f.scan(&s, l.Bytes) // a damaged line tells nothing here
		}
	}
	id := firstOf(s.t.thread.id, codexID(path))
	return &codexFound{thread: s.t.thread, History: History{
		Tool: Codex, ID: id, Path: path, Dir: s.t.cwd, Folder: codexFolder, Size: fi.Size(), Modified: fi.ModTime(),
		spawned: s.t.thread.spawner != "",
	}}, nil
}

// maxTitles is how much of the file of names is read, in bytes: its end.
const maxTitles = 16 << 20

// codexTitles returns the names of sessions, of which the last counts.
func codexTitles(path string) (map[string]string, error) {
	f, fi, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	titles := map[string]string{}
	begin := max(0, fi.Size()-maxTitles)
	in := jsonl.NewReader(io.NewSectionReader(f, begin, fi.Size()-begin))
	for {
		l, err := in.Next()
		if errors.Is(err, io.EOF) {
			return titles, nil
		}
		if err != nil {
			return titles, err
		}
		raw := pyjson.TrimSpace(l.Bytes)
		if pyjson.Check(raw, pyjson.Tolerant) != nil {
			continue // the first one may be cut
		}
		if m := members(raw, "id", "thread_name"); text(m[0]) != "" && strings.TrimSpace(text(m[1])) != "" {
			titles[text(m[0])] = text(m[1])
		}
	}
}
