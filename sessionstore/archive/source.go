package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// file is a file of a session that is read. Its content can be read until the
// source is asked for the next file.
type file struct {
	session  string // id of the session that the file belongs to
	path     string // in the session's directory, with slashes
	modified time.Time
	content  io.Reader
	kept     bool // the session has to stay on the machine
}

// source yields the files of sessions, one session after the other.
type source interface {
	// next returns the next file. The error is io.EOF after the last one.
	next() (file, error)
}

// directory is the source of a session's directory.
type directory struct {
	root  *os.Root
	id    string
	paths []string // of the files that are left
	open  *os.File // the file that next returned last
	limit byteLimit
	kept  bool
}

// openDirectory opens the source of the session's directory dir, of which at most so many
// bytes are read.
func openDirectory(dir string, most int64) (*directory, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	d := &directory{root: root, id: filepath.Base(dir), limit: byteLimit{most: most}}
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == ".":
			return nil
		case e.IsDir() && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return entryError(path, ErrNotRegular)
		}
		d.paths = append(d.paths, path)
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *directory) next() (file, error) {
	if err := d.closeFile(); err != nil {
		return file{}, err
	}
	if len(d.paths) == 0 {
		return file{}, io.EOF
	}
	path := d.paths[0]
	d.paths = d.paths[1:]
	f, fi, err := vfs.Open(d.root, path, os.O_RDONLY)
	if errors.Is(err, vfs.ErrNotRegular) {
		err = entryError(path, ErrNotRegular)
	}
	if err != nil {
		return file{}, err
	}
	d.open = f
	// Lines that a writer appends from now on are not read.
	return file{d.id, path, fi.ModTime(), d.limit.reader(io.LimitReader(f, fi.Size())), d.kept}, nil
}

func (d *directory) closeFile() error {
	if d.open == nil {
		return nil
	}
	err := d.open.Close()
	d.open = nil
	return err
}

// Close closes the open file and the directory.
func (d *directory) Close() error { return errors.Join(d.closeFile(), d.root.Close()) }

// byteLimit is how many bytes all files of a source may have together. A negative one is
// none.
type byteLimit struct{ most, read int64 }

func (l *byteLimit) reader(in io.Reader) io.Reader { return &limitedReader{in, l} }

// limitedReader fails beyond its limit.
type limitedReader struct {
	in    io.Reader
	limit *byteLimit
}

func (r *limitedReader) Read(b []byte) (int, error) {
	n, err := r.in.Read(b)
	if r.limit.read += int64(n); r.limit.most >= 0 && r.limit.read > r.limit.most {
		return 0, limitError("bytes", r.limit.most)
	}
	return n, err
}

// readError returns err as the reason why an archive cannot be read.
func readError(err error) error { return fmt.Errorf("read archive: %w", err) }
