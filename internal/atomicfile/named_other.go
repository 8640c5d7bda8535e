//go:build !unix

package atomicfile

import (
	"io"
	"io/fs"
	"time"
)

// replaceNamed gives name the content that write produces. renameio refuses Windows, and its
// package maybe takes the content from memory and truncates the file that it writes.
func (d *Dir) replaceNamed(name string, _ fs.FileInfo, write func(io.Writer) error) error {
	return d.Replace(name, true, time.Now(), write)
}
