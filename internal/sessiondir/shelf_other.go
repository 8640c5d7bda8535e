//go:build !linux

package sessiondir

import (
	"errors"
	"io/fs"
	"os"
)

// Leaf is a file of a [Shelf], open for reading. It is for one goroutine.
type Leaf struct{ file *os.File }

// quickly has no quick way here.
func (s *Shelf) quickly(_, _ string) (*Leaf, error) { return nil, errors.ErrUnsupported }

// Has reports whether the file name of the session id is there, a symlink that
// leads nowhere included, or whether that cannot be told.
func (s *Shelf) Has(id, name string) bool {
	_, err := os.Lstat(s.Path(id, name))
	return !errors.Is(err, fs.ErrNotExist)
}

// Read reads as an [io.Reader] does.
func (l *Leaf) Read(p []byte) (int, error) { return l.file.Read(p) }

// Close closes the file.
func (l *Leaf) Close() error { return l.file.Close() }
