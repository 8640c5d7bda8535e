package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

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

// Entry is the directory of a session as a listing finds it.
type Entry struct {
	Name     string
	Modified time.Time // zero where the system does not report it
	Stamp    Stamp     // of the directory; zero where the system does not report it
	Symlink  bool
	Lost     error // the reason why a symlink leads to nothing, or its target is not known
	kind     kind
}

// choose returns the entries in a text of a listing whose names keep accepts.
func choose(text string, keep func(name string) bool) []Entry {
	found := make([]Entry, 0, strings.Count(text, "\x00"))
	for text != "" {
		end := strings.IndexByte(text, 0)
		if name := text[1:end]; keep(name) {
			found = append(found, Entry{Name: name, kind: kind(text[0])})
		}
		text = text[end+1:]
	}
	return found
}

// Entries returns the directories that do not begin with a dot, and the symlinks to
// directories, in the order of the file system. It leaves out the names of [OfSystem],
// too, and does not read directories whose names keep refuses. When the path does not
// exist any more, the error Is [fs.ErrNotExist] and names the path.
func (s *Sessions) Entries(keep func(name string) bool) ([]Entry, error) {
	found, err := s.EntriesAndLost(keep)
	return slices.DeleteFunc(found, func(e Entry) bool { return e.Lost != nil }), err
}

// EntriesAndLost is [Sessions.Entries] with the symlinks that lead to nothing, or whose
// target the system does not report.
func (s *Sessions) EntriesAndLost(keep func(name string) bool) ([]Entry, error) {
	found, err := s.entries(keep)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("sessions directory %s was moved or removed: %w", s.path, fs.ErrNotExist)
	}
	return found, err
}

func (s *Sessions) entries(keep func(name string) bool) ([]Entry, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	q := &questions{in: f, hooks: s.hooks, waiting: make(chan []Entry, 64)}
	err = readNames(f, func(text string) { q.ask(choose(text, keep)) })
	found := q.answers()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return found, nil
}

// questions reads the entries of the directory in while more of their names are read.
type questions struct {
	in      *os.File
	hooks   *seam.Seam
	all     [][]Entry
	waiting chan []Entry
	workers int
	wait    sync.WaitGroup
}

// busy is the number of entries that are worth a goroutine.
const busy = 100

// ask fills in the entries of part.
func (q *questions) ask(part []Entry) {
	if len(part) == 0 {
		return
	}
	q.all = append(q.all, part)
	if len(q.all) > 1 && len(part) >= busy && q.workers < runtime.GOMAXPROCS(0)-1 {
		q.workers++
		q.wait.Go(q.work)
	}
	select {
	case q.waiting <- part:
	default:
		q.fill(part)
	}
}

func (q *questions) work() {
	for part := range q.waiting {
		q.fill(part)
	}
}

func (q *questions) fill(part []Entry) {
	for i := range part {
		part[i].fill(q.in, q.hooks)
	}
}

// answers waits for all entries, and returns those that are directories.
func (q *questions) answers() []Entry {
	close(q.waiting)
	q.work()
	q.wait.Wait()
	return slices.DeleteFunc(slices.Concat(q.all...), func(e Entry) bool { return e.Name == "" })
}

// fill completes an entry of the directory in. An entry that is no directory loses its
// name.
func (e *Entry) fill(in *os.File, hooks *seam.Seam) {
	is, isDir, err := statEntry(in, e.Name)
	if err != nil && e.kind == symlink {
		if own, _, there := statIn(in, e.Name, nil); there == nil { // it was not removed just now
			e.Modified, e.Symlink, e.Lost = own.Mtime, true, Lost(err)
			return
		}
	}
	if err != nil && (e.kind != directory || errors.Is(err, fs.ErrNotExist)) || err == nil && !isDir {
		e.Name = ""
		return
	}
	e.Modified, e.Stamp, e.Symlink = is.Mtime, is.rounded(hooks), e.kind == symlink
}

// LostLinks returns the names of the symlinks in a sessions directory that lead nowhere, or
// whose target cannot be examined. Lists leave them out.
func LostLinks(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if name := e.Name(); e.Type()&fs.ModeSymlink != 0 && name[0] != '.' {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				names = append(names, name)
			}
		}
	}
	return names, err
}

// Lost returns the error of a symlink, given the error of following it: ErrLost if it
// leads to nothing.
func Lost(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return ErrLost
	}
	return err
}

// kind is the kind of a name in the sessions directory.
type kind byte

const (
	directory kind = 'd'
	symlink   kind = 'l'
	unknown   kind = '?' // the file system does not report it
	other     kind = '-' // never a session
)

// appendName adds a name to the text of a listing, unless it begins with a dot or cannot
// be the name of a session's directory.
func appendName[T string | []byte](text []byte, name T, k kind) []byte {
	if k == other || len(name) > 0 && name[0] == '.' || OfSystem(string(name)) {
		return text
	}
	return append(append(append(text, byte(k)), name...), 0)
}
