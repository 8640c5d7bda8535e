//go:build linux

package disk

import (
	"errors"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Position is how many entries a record has. It is in a page that the disk
// shares with other processes.
type Position struct{ page []byte }

// NewPosition makes the file name for a position; [OpenPosition] opens it in
// another process.
func NewPosition(name string) (*Position, error) {
	if err := os.WriteFile(name, make([]byte, os.Getpagesize()), 0o600); err != nil {
		return nil, err
	}
	return OpenPosition(name)
}

// OpenPosition opens the position that [NewPosition] made. It stays open until the process
// ends.
func OpenPosition(name string) (*Position, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return &Position{b}, errors.Join(err, f.Close())
}

func (p *Position) word() *uint64 { return (*uint64)(unsafe.Pointer(&p.page[0])) }

// Get returns the position now.
func (p *Position) Get() uint64 { return atomic.LoadUint64(p.word()) }

// Advance adds one entry.
func (p *Position) Advance() { atomic.AddUint64(p.word(), 1) }
