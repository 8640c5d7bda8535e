package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Entry is the directory of a session as a listing finds it.
type Entry struct {
	Name     string
	Modified time.Time // zero where the system does not tell
	Symlink  bool
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
	all, err := readNames(f, func(name string, kind fs.FileMode) bool {
		return !strings.HasPrefix(name, ".") && mayBeDir(kind) && keep(name)
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	found := b.entriesOf(f, all)
	return slices.DeleteFunc(found, func(e Entry) bool { return e.Name == "" }), f.Close()
}

// named is a name in a directory. Where the file system does not tell what has
// the name, it is irregular.
type named struct {
	name string
	kind fs.FileMode // type bits
}

func mayBeDir(kind fs.FileMode) bool {
	return kind.IsDir() || kind&fs.ModeSymlink != 0 || kind == fs.ModeIrregular
}

// share is how many entries are worth a goroutine of their own.
const share = 1000

// entriesOf asks about entries of the directory in; what is no directory has
// no name.
func (b *Base) entriesOf(in *os.File, all []named) []Entry {
	found := make([]Entry, len(all))
	ask := func(from, to int) {
		for i := from; i < to; i++ {
			found[i] = b.entry(in, all[i])
		}
	}
	workers := max(1, min(runtime.GOMAXPROCS(0), len(all)/share))
	var wait sync.WaitGroup
	for w := 1; w < workers; w++ {
		wait.Go(func() { ask(len(all)*w/workers, len(all)*(w+1)/workers) })
	}
	ask(0, len(all)/workers)
	wait.Wait()
	return found
}

func (b *Base) entry(in *os.File, e named) Entry {
	modified, isDir, err := b.statEntry(in, e.name)
	if err != nil && (!e.kind.IsDir() || errors.Is(err, fs.ErrNotExist)) || err == nil && !isDir {
		return Entry{}
	}
	return Entry{Name: e.name, Modified: modified, Symlink: e.kind&fs.ModeSymlink != 0}
}
