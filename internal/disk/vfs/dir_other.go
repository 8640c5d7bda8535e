//go:build !unix

package vfs

import (
	"io"
	"io/fs"
	"os"
	"time"
)

func (d *Dir) open(name string, flag int) (*os.File, error) {
	return openShared(func() (*os.File, error) { return d.root.OpenFile(name, flag, 0) })
}

func (d *Dir) syncNames() error { return nil }

// Own does nothing: files belong to the users of the directory.
func Own(*os.Root, string) error { return nil }

// replaceNamed gives name the content that write produces. renameio refuses Windows, and its
// package maybe takes the content from memory and truncates the file that it writes.
func (d *Dir) replaceNamed(name string, _ fs.FileInfo, write func(io.Writer) error) error {
	return d.Replace(name, true, time.Now(), write)
}
