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

// finding has the sessions that were found, by their ids. The origin of one has only an id so far.
type finding map[string]*thread.History

// Find: a file is a session, in a folder or below it, as extensions keep those of sub-agents, or without one
// where pi was told to keep it elsewhere. A fork names the file of its origin. A folder and a file may be links.
func (Tool) Find(ctx context.Context, home string) (found []thread.History, failed error) {
	f := finding{}
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
	for _, h := range f {
		if from := h.Origin; from != nil && f[from.ID] != nil && f[from.ID] != h {
			from.Path = f[from.ID].Path
		} else {
			h.Origin = nil
		}
		found = append(found, *h)
	}
	slices.SortFunc(found, func(a, b thread.History) int { return cmp.Compare(a.Path, b.Path) })
	return found, failed
}

// take takes the file of a session. Of two files with one id the longer is the session.
func (f finding) take(ctx context.Context, open *thread.Folder, path string, e fs.DirEntry) error {
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
	h := thread.History{ID: idIn(path), Path: path, Size: fi.Size(), Modified: fi.ModTime()}
	h.Folder = "-" + strings.Trim(filepath.Base(filepath.Dir(path)), "-")
	if first.kind == headerKind {
		m := thread.Members(first.entry, "cwd", "parentSession")
		h.ID, h.Dir, h.Origin = cmp.Or(first.id, h.ID), thread.Text(m[0]), &thread.History{ID: idIn(thread.Text(m[1]))}
	}
	switch other := f[h.ID]; {
	case other != nil && other.Path == path: // a link leads to its folder
		return nil
	case other != nil && other.Size >= h.Size:
		other.Shorter = append(other.Shorter, path)
		return nil
	case other != nil:
		h.Shorter = append(other.Shorter, other.Path)
	}
	f[h.ID] = &h
	return nil
}
