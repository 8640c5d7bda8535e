package archive

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/vfs"
)

// maxDepth is the largest number of directories above a file.
const maxDepth = 64

// file writes one file of the session.
func (l *landing) file(f file) error {
	if f.path == ownership.FenceName || f.path == sessiondir.Marker || hidden(f.path) {
		return nil
	}
	if !filepath.IsLocal(filepath.FromSlash(f.path)) || strings.ContainsAny(f.path, "\\\x00") || path.Clean(f.path) != f.path || strings.Count(f.path, "/") > maxDepth {
		return &EntryError{f.path, ErrPath}
	}
	if l.seen[f.path] {
		return &EntryError{f.path, ErrTwice}
	}
	l.seen[f.path] = true
	if f.path == sessiondir.Metadata {
		var err error
		if f.content, err = l.metadata(f.content); err != nil {
			return err
		}
	}
	dir, leave, err := l.directory(path.Dir(f.path))
	if err != nil {
		return err
	}
	err = dir.Replace(path.Base(f.path), l.core.Syncs(), f.modified, func(w io.Writer) error {
		n, err := io.Copy(meteredWriter{w, &l.meter}, f.content)
		l.res.Bytes += n
		return err
	})
	if err == nil && l.core.Syncs() {
		err = dir.Sync()
	}
	if err = errors.Join(err, leave()); err != nil {
		return err
	}
	l.wrote(f.path)
	return nil
}

// directory opens a directory below that of the session, and makes it where it
// is not there.
func (l *landing) directory(name string) (dir *vfs.Dir, leave func() error, err error) {
	dir = l.tx.Dir().Dir
	leave = func() error { return nil }
	if name == "." {
		return dir, leave, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		err := dir.Mkdir(part)
		switch {
		case errors.Is(err, fs.ErrExist):
			err = nil
		case err == nil && l.core.Syncs():
			err = dir.Sync()
		}
		if err != nil {
			return nil, nil, errors.Join(err, leave())
		}
		root, err := dir.Root().OpenRoot(part)
		if err = errors.Join(err, leave()); err != nil {
			return nil, nil, err
		}
		dir = dir.At(root)
		leave = dir.Close
	}
	return dir, leave, nil
}
