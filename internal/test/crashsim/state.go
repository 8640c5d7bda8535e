package crashsim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// A State is a possible content of a disk after a power cut.
type State struct {
	Done  int // operations of the log that were done before the cut
	Acked int // calls that were acknowledged before the cut: their data must be found

	text  string
	names tree
	files []content
}

// String describes how the state came about, so that it can be found again: the operations
// done, the data kept, and for each name operation that no sync had made durable, oldest
// first, whether it was kept (1) or lost (0), with their numbers in the log.
func (s *State) String() string { return s.text }

// ReadFile returns the content of the file at a slash-separated path below
// the base directory. It must not be changed. The error is [fs.ErrNotExist]
// when there is no such file.
func (s *State) ReadFile(name string) ([]byte, error) {
	n, ok := s.names.find(name)
	if !ok || !s.files[n].mode.IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return s.files[n].data, nil
}

// Paths returns the paths of all files and directories, each directory before its content.
func (s *State) Paths() []string {
	var paths []string
	for _, p := range s.names.places() {
		paths = append(paths, p.path)
	}
	return paths
}

// Materialise writes the state to dir, which is made if needed and must be
// empty, with modes, modification times and hard links.
func (s *State) Materialise(dir string) error {
	if err := s.write(dir); err != nil {
		return fmt.Errorf("materialise state: %w", err)
	}
	return nil
}

func (s *State) write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	places := s.names.places()
	first := map[int]string{}
	for _, p := range places {
		full := filepath.Join(dir, filepath.FromSlash(p.path))
		if err := s.make(full, p.inode, first); err != nil {
			return err
		}
	}
	places = slices.Insert(places, 0, place{".", root})
	for _, p := range slices.Backward(places) {
		mode := s.files[p.inode].mode
		if !mode.IsDir() {
			continue
		}
		full := filepath.Join(dir, filepath.FromSlash(p.path))
		if err := finish(full, mode, s.names[p.inode].time); err != nil {
			return err
		}
	}
	return nil
}

// make makes one file, directory or link; first holds the paths of the files
// that have been made.
func (s *State) make(full string, n int, first map[int]string) error {
	c := s.files[n]
	if c.mode.IsDir() {
		return os.Mkdir(full, 0o700)
	}
	if old, ok := first[n]; ok {
		return os.Link(old, full)
	}
	first[n] = full
	if c.mode.Type() == fs.ModeSymlink {
		return os.Symlink(string(c.data), full)
	}
	file, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(c.data)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return finish(full, c.mode, c.time)
}

func finish(full string, mode fs.FileMode, mtime time.Time) error {
	if err := os.Chmod(full, mode.Perm()); err != nil {
		return err
	}
	return os.Chtimes(full, time.Time{}, mtime)
}

// sum identifies the state's names, types, modes, data, hard links and the modification
// times of files, but not of directories.
func (s *State) sum() (sum [sha256.Size]byte) {
	h := sha256.New()
	order := map[int]int{}
	for i, p := range s.names.places() {
		c := s.files[p.inode]
		if _, ok := order[p.inode]; !ok {
			order[p.inode] = i
		}
		putInts(h, int64(len(p.path)), int64(order[p.inode]), int64(c.mode))
		h.Write([]byte(p.path))
		if !c.mode.IsDir() {
			putInts(h, c.time.UnixNano())
			h.Write(c.sum[:])
		}
	}
	h.Sum(sum[:0])
	return sum
}

func putInts(h hash.Hash, list ...int64) {
	var b [8]byte
	for _, n := range list {
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
}
