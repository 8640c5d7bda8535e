package crashsim

import (
	"crypto/sha256"
	"io/fs"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// content is a file, apart from its names. Its data is never changed in place once it can
// be seen from outside of [inode.content].
type content struct {
	mode fs.FileMode
	data []byte // of a symbolic link: where it leads
	time time.Time
	sum  [sha256.Size]byte // of data
}

// An inode is a file or directory of a modelled disk. The content of a directory is in the
// trees.
type inode struct {
	durable content
	changes []change // since then, oldest first
}

// A change is a write, truncate or chtimes of a file.
type change struct {
	kind seam.Kind
	off  int64
	data []byte
	time time.Time // modification time after it
	// fixed is a change that a sync has made durable, but that follows a
	// doubtful one: a change that a sync failed to make durable. No later sync
	// makes good for that, as operating systems then take its pages for clean.
	fixed, doubtful bool
}

// kept describes the parts of a change that have reached the disk.
type kept struct {
	parts []span // ranges of a write's data
	inode bool   // the file's new size and time
}

type span struct{ from, to int }

// whole keeps all of a change.
func whole(c change) kept { return kept{[]span{{0, len(c.data)}}, true} }

// settle applies a sync that succeeded or failed.
func (n *inode) settle(failed bool) {
	for i := range n.changes {
		c := &n.changes[i]
		c.doubtful = c.doubtful || failed && !c.fixed
		c.fixed = !c.doubtful
	}
	done := slices.IndexFunc(n.changes, func(c change) bool { return c.doubtful })
	if done < 0 {
		done = len(n.changes)
	}
	rest := slices.Clone(n.changes[done:])
	n.changes = n.changes[:done]
	n.durable = n.content(nil)
	n.changes = rest
}

// dirty reports whether changes may be lost.
func (n *inode) dirty() bool {
	return slices.ContainsFunc(n.changes, func(c change) bool { return !c.fixed })
}

// content returns the file with the parts of its unsynced changes that keep chooses; keep
// is called with change i of n.
func (n *inode) content(keep func(i int, c change) kept) content {
	if len(n.changes) == 0 {
		return n.durable
	}
	out := n.durable
	out.data = slices.Clone(out.data)
	for i, c := range n.changes {
		if c.fixed {
			out.add(c, whole(c))
			continue
		}
		out.add(c, keep(i, c))
	}
	out.sum = sha256.Sum256(out.data)
	return out
}

// add changes f by the kept parts of c.
func (f *content) add(c change, k kept) {
	if c.kind == seam.Write && len(c.data) > 0 { // an empty write does not grow a file
		for _, p := range k.parts {
			f.grow(int(c.off) + p.to)
			copy(f.data[int(c.off)+p.from:], c.data[p.from:p.to])
		}
		if k.inode {
			f.grow(int(c.off) + len(c.data))
		}
	}
	if k.inode && c.kind == seam.Truncate {
		f.grow(int(c.off))
		f.data = f.data[:c.off]
	}
	if k.inode || len(k.parts) > 0 {
		f.time = c.time
	}
}

// grow makes the file at least size bytes long, with NULs.
func (f *content) grow(size int) {
	if n := size - len(f.data); n > 0 {
		f.data = append(f.data, make([]byte, n)...)
	}
}
