package crashsim

import (
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// root is the inode of the base directory. As it is in no directory, it also means "no such
// name" in bindings and lookups.
const root = 0

// A tree holds the names on a disk: the content of each directory, by its inode. Folders
// are never changed, only replaced, so that copies may share them.
type tree map[int]folder

// folder is the content of a directory.
type folder struct {
	names map[string]int
	time  time.Time
}

// A binding is a name in a directory and the inode that it denotes.
type binding struct {
	dir   int
	name  string
	inode int
}

// denotes returns the inode of a name in a directory.
func (t tree) denotes(dir int, name string) int { return t[dir].names[name] }

// bind makes a name denote b.inode, or nothing if that is root.
func (t tree) bind(b binding, mtime time.Time) {
	names := maps.Clone(t[b.dir].names)
	if names == nil {
		names = map[string]int{}
	}
	names[b.name] = b.inode
	if b.inode == root {
		delete(names, b.name)
	}
	t[b.dir] = folder{names, mtime}
}

// find returns the inode at a slash-separated path, "." being the base.
func (t tree) find(name string) (inode int, ok bool) {
	if name == "." {
		return root, true
	}
	inode = root
	for elem := range strings.SplitSeq(name, "/") {
		if inode = t.denotes(inode, elem); inode == root {
			return 0, false
		}
	}
	return inode, true
}

// holds reports whether inode is dir or a directory above it.
func (t tree) holds(inode, dir int) bool {
	if inode == dir {
		return true
	}
	for _, child := range t[inode].names {
		if t.holds(child, dir) {
			return true
		}
	}
	return false
}

// A place is a path and the inode that is found there.
type place struct {
	path  string
	inode int
}

// places lists everything below the base, directories before their content, names in order.
func (t tree) places() []place { return t.appendPlaces(nil, root, ".") }

func (t tree) appendPlaces(list []place, dir int, at string) []place {
	names := t[dir].names
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p := place{path.Join(at, name), names[name]}
		list = t.appendPlaces(append(list, p), p.inode, p.path)
	}
	return list
}

// A move is an operation on names. It is atomic: all of its names change, or none.
type move struct {
	step    int // the operation's number in the log, from 1
	kind    seam.Kind
	inode   int         // the inode that is made, moved, linked or removed
	need    []binding   // the bindings before
	set     []binding   // the bindings after
	times   []time.Time // for each of set, the directory's modification time after
	touches []int       // directories whose content it changes or relies upon
}

// apply does m.
func (t tree) apply(m move) {
	for i, b := range m.set {
		t.bind(b, m.times[i])
	}
}

// allows reports whether m can be done in t. Where moves before it were lost,
// names may be missing or denote something else; m cannot be done then.
func (t tree) allows(m move, isDir func(int) bool) bool {
	for _, b := range m.need {
		if t.denotes(b.dir, b.name) != b.inode {
			return false
		}
	}
	for _, b := range m.set {
		if b.inode != root && isDir(b.inode) && t.holds(b.inode, b.dir) {
			return false
		}
	}
	switch m.kind {
	case seam.Remove:
		return len(t[m.inode].names) == 0
	case seam.Rename:
		to := m.set[1]
		old := t.denotes(to.dir, to.name)
		if old == m.inode {
			return false
		}
		return old == root || isDir(old) == isDir(m.inode) && len(t[old].names) == 0
	}
	return true
}
