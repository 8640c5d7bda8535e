package pi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// Find: a file is a session, a fork names the file of its origin. Of two files with one id the
// longer is the session. A folder and a file may be links, as for pi.
func (Tool) Find(ctx context.Context, home string, since time.Time) ([]thread.History, error) {
	byID := map[string]*thread.History{}
	origins := map[string]string{} // of forks, by id
	take := func(open *thread.Folder, path string, e fs.DirEntry) error {
		if !strings.HasSuffix(path, thread.HistorySuffix) {
			return nil
		}
		if mode, err := modeOf(path, e); err != nil || !mode.IsRegular() {
			return err
		}
		h, origin, err := historyIn(ctx, open, path, e)
		if err != nil {
			return err
		}
		switch other := byID[h.ID]; {
		case other != nil && other.Path == path: // a link leads to its folder
			return nil
		case other != nil && other.Size >= h.Size:
			other.Shorter = append(other.Shorter, path)
			return nil
		case other != nil:
			h.Shorter = append(other.Shorter, other.Path)
		}
		byID[h.ID], origins[h.ID] = &h, origin
		return nil
	}
	failed := thread.Below(ctx, filepath.Join(home, "sessions"), func(open *thread.Folder, path string, e fs.DirEntry) error {
		if mode, err := modeOf(path, e); err != nil || !mode.IsDir() {
			return cmp.Or(err, take(open, path, e))
		}
		return linked(path, open, take)
	})
	var found []thread.History
	for id, h := range byID {
		if from := byID[origins[id]]; from != nil && from != h {
			h.Origin = &thread.History{ID: from.ID, Path: from.Path}
		}
		if !h.Modified.Before(since) {
			found = append(found, *h)
		}
	}
	slices.SortFunc(found, func(a, b thread.History) int { return cmp.Compare(a.Path, b.Path) })
	return found, failed
}

// modeOf returns the type of an entry of a directory, or of the file that a link leads to.
func modeOf(path string, e fs.DirEntry) (fs.FileMode, error) {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type(), nil
	}
	fi, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return fi.Mode(), nil
}

// linked calls take for each entry of the directory that a link leads to, and not below that.
func linked(link string, open *thread.Folder, take func(open *thread.Folder, path string, e fs.DirEntry) error) error {
	dir, err := filepath.EvalSymlinks(link)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, take(open, filepath.Join(dir, e.Name()), e))
	}
	return err
}

// historyIn returns what the beginning of a file says, and the id of its origin. Lines that are
// blank or damaged count as little as in pi.
func historyIn(ctx context.Context, open *thread.Folder, path string, e fs.DirEntry) (h thread.History, origin string, err error) {
	f, fi, err := open.Open(path, e)
	if err != nil {
		return h, "", err
	}
	defer f.Close()
	folder := "-" + strings.Trim(filepath.Base(filepath.Dir(path)), "-")
	h = thread.History{ID: idIn(path), Path: path, Folder: folder, Size: fi.Size(), Modified: fi.ModTime()}
	for l, err := range thread.LinesOf(ctx, io.LimitReader(f, thread.MaxBeginning)) {
		first, damaged := parse(l.Bytes)
		if err == nil && damaged != nil {
			continue
		}
		if err == nil && first.kind == headerKind {
			m := thread.Members(first.entry, "cwd", "parentSession")
			h.ID, h.Dir, origin = cmp.Or(first.id, h.ID), thread.Text(m[0]), idIn(thread.Text(m[1]))
		}
		return h, origin, err
	}
	return h, origin, nil
}
