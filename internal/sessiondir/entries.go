package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Entry is the directory of a session as a listing finds it.
type Entry struct {
	Name     string
	Modified time.Time // zero where the system does not tell
	Symlink  bool
	kind     kind
}

// Entries returns the directories that do not begin with a dot, and the
// symlinks to directories, in the order of the file system. Those whose name
// keep refuses are not looked at. A sessions directory that is gone has none.
func (b *Base) Entries(keep func(name string) bool) ([]Entry, error) {
	f, err := os.Open(b.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	q := &questions{base: b, in: f, waiting: make(chan []Entry, 64)}
	err = b.list(f, func(text string) { q.ask(choose(text, keep)) })
	found := q.answers()
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return found, nil
}

// questions asks about entries of the directory in while more of their names
// are read.
type questions struct {
	base    *Base
	in      *os.File
	all     [][]Entry
	waiting chan []Entry
	workers int
	wait    sync.WaitGroup
}

// busy is how many entries are worth a goroutine.
const busy = 100

// ask fills in what there is to know about part.
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
		q.base.fill(q.in, &part[i])
	}
}

// answers returns the entries that are directories, when all is known.
func (q *questions) answers() []Entry {
	close(q.waiting)
	q.work()
	q.wait.Wait()
	return slices.DeleteFunc(slices.Concat(q.all...), func(e Entry) bool { return e.Name == "" })
}

// fill completes an entry of the directory in. What is no directory loses its
// name.
func (b *Base) fill(in *os.File, e *Entry) {
	modified, isDir, err := b.statEntry(in, e.Name)
	if err != nil && (e.kind != directory || errors.Is(err, fs.ErrNotExist)) || err == nil && !isDir {
		e.Name = ""
		return
	}
	e.Modified, e.Symlink = modified, e.kind == symlink
}
