//go:build linux

package disk

import (
	"bufio"
	"context"
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/record"
)

// Name is the name of the disk in the FUSE file system.
const Name = "disk"

// file is the disk.
type file struct {
	fs.Inode
	position *Position

	mu      sync.Mutex // guards content, out and failed
	content []byte
	out     *bufio.Writer
	failed  error // of the record
}

// note puts e into the record. The caller holds mu.
func (f *file) note(e record.Entry) syscall.Errno {
	if _, err := e.WriteTo(f.out); err != nil {
		f.failed = err
		return syscall.EIO
	}
	f.position.Advance()
	return 0
}

func (f *file) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size, out.Blksize = syscall.S_IFREG|0o600, uint64(len(f.content)), record.Block
	return 0
}

func (f *file) Setattr(ctx context.Context, h fs.FileHandle, _ *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return f.Getattr(ctx, h, out)
}

func (f *file) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

func (f *file) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if off < 0 || off >= int64(len(f.content)) {
		return fuse.ReadResultData(nil), 0
	}
	n := copy(dest, f.content[off:])
	return fuse.ReadResultData(dest[:n]), 0
}

func (f *file) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if off < 0 || off+int64(len(data)) > int64(len(f.content)) {
		return 0, syscall.ENOSPC
	}
	copy(f.content[off:], data)
	return uint32(len(data)), f.note(record.Entry{Kind: record.Write, Off: off, Len: int64(len(data)), Data: data})
}

// Fsync is how a flush of the loop device arrives.
func (f *file) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.note(record.Entry{Kind: record.Flush})
}

// Flush is called when the disk is closed, which flushes nothing.
func (f *file) Flush(context.Context, fs.FileHandle) syscall.Errno { return 0 }

// Allocate is how a discard of the loop device arrives.
func (f *file) Allocate(_ context.Context, _ fs.FileHandle, off, size uint64, mode uint32) syscall.Errno {
	const punch, zero = 0x02, 0x10
	if mode&(punch|zero) == 0 {
		return syscall.EOPNOTSUPP
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	end := min(off+size, uint64(len(f.content)))
	if off > end {
		return syscall.EINVAL
	}
	clear(f.content[off:end])
	return f.note(record.Entry{Kind: record.Zero, Off: int64(off), Len: int64(end - off)})
}
