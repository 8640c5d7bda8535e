package vfs

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// Mode is the permission of every file that is made: for the owner alone.
const Mode fs.FileMode = 0o600

// Dir is an open directory. Names given to its methods are base names, and
// symlinks among them are never followed out of it.
type Dir struct {
	root *os.Root
	seam *seam.Seam

	mu   sync.Mutex // guards self
	self *os.File   // the directory itself; opened when first needed
}

// New returns the directory that root confines; seam may be nil.
func New(root *os.Root, seam *seam.Seam) *Dir {
	return &Dir{root: root, seam: seam}
}

// At returns the directory that root confines, under the same seam.
func (d *Dir) At(root *os.Root) *Dir { return New(root, d.seam) }

// Close releases the directory and its root. Further calls do nothing.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	if d.self != nil {
		err = d.self.Close()
		d.self = nil
	}
	return errors.Join(err, d.root.Close())
}

// Descriptors returns how many descriptors the directory has: one for its root, and one
// for the [Dir.Handle] once it is open.
func (d *Dir) Descriptors() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.self == nil {
		return 1
	}
	return 2
}

// Handle returns the directory itself for reading; Close closes it.
func (d *Dir) Handle() (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.self != nil {
		return d.self, nil
	}
	f, err := d.root.OpenFile(".", os.O_RDONLY|syscall.O_NONBLOCK, 0) // else the runtime tries to wait for it
	if err == nil {
		d.self = f
	}
	return f, err
}

// Opened returns the directory itself if it was needed before, else nil.
func (d *Dir) Opened() *os.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.self
}

// Root returns the root for reading. Changes of the disk go through Dir.
func (d *Dir) Root() *os.Root { return d.root }

func (d *Dir) op(kind seam.Kind, name, to string) seam.Op {
	return seam.Op{Kind: kind, Dir: d.root.Name(), Name: name, To: to}
}

// change performs op with do, and waits while another program has the file of op open.
func (d *Dir) change(op seam.Op, do func() error) error {
	return WhenFree(func() error { return d.seam.Do(op, do) })
}
