//go:build linux

package disk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Options of a disk. The names are of files outside of it.
type Options struct {
	Mount    string // directory on which the FUSE file system appears
	Record   string
	Position string // made by [NewPosition]
	Start    string // file with the content that the disk has at first; empty: zeros
	Size     int64
}

type root struct {
	fs.Inode
	file *file
}

// OnAdd puts the disk into the root.
func (r *root) OnAdd(ctx context.Context) {
	r.AddChild(Name, r.NewPersistentInode(ctx, r.file, fs.StableAttr{Mode: syscall.S_IFREG}), true)
}

// Serve mounts the disk, prints "ready", and returns when it is unmounted and the record is
// written. It needs a process of its own: a process that waits for a file on its own disk
// may wait for itself.
func Serve(o Options) (err error) {
	f, err := open(o)
	if err != nil {
		return err
	}
	out, err := os.Create(o.Record)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	f.out = bufio.NewWriterSize(out, 1<<20)
	server, err := fs.Mount(o.Mount, &root{file: f}, &fs.Options{MountOptions: fuse.MountOptions{
		Name: "powercut", FsName: "powercut", MaxWrite: 1 << 20, DirectMount: true,
	}})
	if err != nil {
		return fmt.Errorf("mount disk: %w", err)
	}
	fmt.Println("ready")
	server.Wait()
	return errors.Join(f.failed, f.out.Flush())
}

// open makes the disk with its first content.
func open(o Options) (*file, error) {
	content, err := unix.Mmap(-1, 0, int(o.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	position, err := OpenPosition(o.Position)
	if err != nil || o.Start == "" {
		return &file{content: content, position: position}, err
	}
	start, err := os.Open(o.Start)
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(start, content)
	return &file{content: content, position: position}, errors.Join(err, start.Close())
}
