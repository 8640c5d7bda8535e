//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// replaceNamed gives name the content that write produces, and the mode and the owner of
// was, which is nil where there is no such file.
func (d *Dir) replaceNamed(name string, was fs.FileInfo, write func(io.Writer) error) error {
	p, err := renameio.NewPendingFile(name, renameio.WithRoot(d.root), renameio.WithStaticPermissions(Mode))
	if err != nil {
		return err
	}
	err = likeFormer(d.root, p.File, was)
	if err == nil {
		err = write(p)
	}
	if err == nil {
		err = p.CloseAtomicallyReplace()
	}
	if err != nil {
		err = errors.Join(err, p.Cleanup())
	}
	return err
}

// likeFormer gives f, which will replace the file was, its mode and its owner. Without
// such a file, f gets the owner of [Own].
func likeFormer(root *os.Root, f *os.File, was fs.FileInfo) error {
	if was == nil {
		return Own(root, filepath.Base(f.Name()))
	}
	made, err := f.Stat()
	if err != nil {
		return err
	}
	is, ok := was.Sys().(*syscall.Stat_t)
	now, known := made.Sys().(*syscall.Stat_t)
	if ok && known && (is.Uid != now.Uid || is.Gid != now.Gid) {
		if err := f.Chown(int(is.Uid), int(is.Gid)); err != nil {
			return fmt.Errorf("keep its owner: %w", err)
		}
	}
	return f.Chmod(was.Mode())
}
