package pi

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// idIn returns the id of the session that the name of a file has: behind the time. The path may
// be of another system.
func idIn(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if _, id, found := strings.Cut(name, "_"); found {
		name = id
	}
	return strings.TrimSuffix(name, thread.HistorySuffix)
}

// finding finds sessions.
type finding struct {
	byID    map[string]*thread.History
	origins map[string]string // of forks, by id
}

// Find: a file is a session, in a folder or below it, as extensions keep those of sub-agents, or without one
// where pi was told to keep it elsewhere. A fork names the file of its origin. A folder and a file may be links.
func (Tool) Find(ctx context.Context, home string) (found []thread.History, failed error) {
	f := finding{byID: map[string]*thread.History{}, origins: map[string]string{}}
	failed = thread.Below(ctx, filepath.Join(home, "sessions"), func(open *thread.Folder, path string, e fs.DirEntry) error {
		mode, err := thread.Mode(path, e)
		if err == nil && !mode.IsDir() {
			return f.take(ctx, open, path, e)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil { // several links may lead there
			return err
		}
		return thread.Entries(ctx, path, func(path string, e fs.DirEntry) error { return f.take(ctx, open, path, e) })
	})
	for id, h := range f.byID {
		if from := f.byID[f.origins[id]]; from != nil && from != h {
			h.Origin = &thread.History{ID: from.ID, Path: from.Path}
		}
		found = append(found, *h)
	}
	slices.SortFunc(found, func(a, b thread.History) int { return cmp.Compare(a.Path, b.Path) })
	return found, failed
}

// take takes the file of a session. Of two files with one id the longer is the session.
func (f *finding) take(ctx context.Context, open *thread.Folder, path string, e fs.DirEntry) error {
	if !strings.HasSuffix(path, thread.HistorySuffix) {
		return nil
	}
	if mode, err := thread.Mode(path, e); err != nil || !mode.IsRegular() {
		return err
	}
	file, fi, err := open.Open(path, e)
	if err != nil {
		return err
	}
	defer file.Close()
	first, err := thread.First(ctx, file, parse)
	if err != nil {
		return err
	}
	h, origin := thread.History{ID: idIn(path), Path: path, Size: fi.Size(), Modified: fi.ModTime()}, ""
	h.Folder = "-" + strings.Trim(filepath.Base(filepath.Dir(path)), "-")
	if first.kind == headerKind {
		m := thread.Members(first.entry, "cwd", "parentSession")
		h.ID, h.Dir, origin = cmp.Or(first.id, h.ID), thread.Text(m[0]), idIn(thread.Text(m[1]))
	}
	switch other := f.byID[h.ID]; {
	case other != nil && other.Path == path: // a link leads to its folder
		return nil
	case other != nil && other.Size >= h.Size:
		other.Shorter = append(other.Shorter, path)
		return nil
	case other != nil:
		h.Shorter = append(other.Shorter, other.Path)
	}
	f.byID[h.ID], f.origins[h.ID] = &h, origin
	return nil
}
