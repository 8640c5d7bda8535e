package sessiondir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
	"github.com/amplifier-go/sessionstorage/internal/whole"
)

// Kept opens the directory name of the bookkeeping for whoever keeps state
// there, and makes it when it is not there.
func (b *Base) Kept(name string) (*vfs.Dir, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(Bookkeeping, name)
	if err := top.MkdirAll(path); err != nil {
		return nil, err
	}
	root, err := top.Root().OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return vfs.New(root, b.seam), nil
}

// RemoveKept removes name from the directory dir of the bookkeeping, if it is there.
func (b *Base) RemoveKept(dir, name string) error {
	top, err := b.open()
	if err != nil {
		return err
	}
	path := filepath.Join(Bookkeeping, dir, name)
	if _, err := top.Root().Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return top.RemoveAll(path)
}

// EditKept opens the file name in the directory dir of the bookkeeping to be
// changed in place. It makes nothing. The error Is [fs.ErrNotExist] when there is
// no such file.
func (b *Base) EditKept(dir, name string) (*vfs.Edit, error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	return top.Edit(filepath.Join(Bookkeeping, dir, name))
}

// ReadKept returns the content of the file name, of at most so many bytes, in
// the directory dir of the bookkeeping. It makes nothing. The error Is
// [fs.ErrNotExist] when there is no such file.
func (b *Base) ReadKept(dir, name string, most int64) (data []byte, err error) {
	top, err := b.open()
	if err != nil {
		return nil, err
	}
	f, fi, err := vfs.Open(top.Root(), filepath.Join(Bookkeeping, dir, name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if fi.Size() > most {
		return nil, fmt.Errorf("%s: %w", name, whole.ErrTooLarge)
	}
	data = make([]byte, fi.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
