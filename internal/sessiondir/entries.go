package sessiondir

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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
	texts, err := b.list(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	found := b.entriesOf(f, choose(texts, keep))
	return slices.DeleteFunc(found, func(e Entry) bool { return e.Name == "" }), f.Close()
}

// portion is how many entries a goroutine asks about before it takes more.
const portion = 500

// entriesOf asks about entries of the directory in; what is no directory has
// no name.
func (b *Base) entriesOf(in *os.File, all []named) []Entry {
	found := make([]Entry, len(all))
	var taken atomic.Int64
	ask := func() {
		for {
			end := int(taken.Add(portion))
			if end-portion >= len(all) {
				return
			}
			for i := end - portion; i < min(end, len(all)); i++ {
				found[i] = b.entry(in, all[i])
			}
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)/portion) - 1 {
		wait.Go(ask)
	}
	ask()
	wait.Wait()
	return found
}

func (b *Base) entry(in *os.File, e named) Entry {
	modified, isDir, err := b.statEntry(in, e.name)
	if err != nil && (e.kind != directory || errors.Is(err, fs.ErrNotExist)) || err == nil && !isDir {
		return Entry{}
	}
	return Entry{Name: e.name, Modified: modified, Symlink: e.kind == symlink}
}
