package vfs

import (
	"os"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// Sessions reads the directory that has the path of a sessions directory now, even if it
// is another directory than before. It is safe for concurrent use.
type Sessions struct {
	path   string
	plain  bool // no symlink is on the way there
	hooks  *seam.Seam
	handle func() (*os.File, error) // returns the directory, which it opens if needed
}

// NewSessions returns a Sessions for the sessions directory with that absolute path.
// handle returns the directory that has the path now, open; the owner of handle closes
// it. hooks, which may be nil, has the step of the clock.
func NewSessions(path string, hooks *seam.Seam, handle func() (*os.File, error)) *Sessions {
	return &Sessions{path: path, plain: isPlain(path), hooks: hooks, handle: handle}
}

// Stat returns the stamp of the file name of the session id, or of the session's
// directory when name is "". It opens nothing. regular is false for anything that is
// neither a file nor a directory, such as a symlink, which it does not follow.
func (s *Sessions) Stat(id, name string) (is Stamp, regular bool, err error) {
	path := s.path + "/" + id
	if name != "" && name != "." {
		path += "/" + name
	}
	return statPath(path, s.hooks)
}

// StatMany returns a function like Stat for many files: it reads the directory that has
// the path now, even when the directory is moved later, and need not find it each time.
func (s *Sessions) StatMany() (stat func(id, name string) (is Stamp, regular bool, err error), err error) {
	in, err := s.handle()
	if err != nil {
		return nil, err
	}
	return func(id, name string) (Stamp, bool, error) { return statIn(in, id+"/"+name, s.hooks) }, nil
}

// IsLocal reports whether the sessions directory is on a file system for which [IsLocal]
// is true.
func (s *Sessions) IsLocal() bool {
	f, err := s.handle()
	return err == nil && IsLocal(f)
}
