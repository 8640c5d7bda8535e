//go:build linux

package device

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/record"
)

// A Device is a loop device.
type Device struct{ path string }

// Attach makes the file name a block device. With direct, its writes pass the
// cache of the system.
func Attach(name string, direct bool) (Device, error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return Device{}, err
	}
	defer f.Close()
	config := unix.LoopConfig{Fd: uint32(f.Fd())}
	if direct {
		const directIO = 16 // LO_FLAGS_DIRECT_IO
		config.Info.Flags = directIO
	}
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return Device{}, err
	}
	defer control.Close()
	for {
		n, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return Device{}, fmt.Errorf("find a free loop device: %w", err)
		}
		d := Device{fmt.Sprint("/dev/loop", n)}
		err = d.control(func(fd int) error { return unix.IoctlLoopConfigure(fd, &config) })
		if !errors.Is(err, unix.EBUSY) { // another process has taken it in between
			return d, err
		}
	}
}

// control calls do with the device open.
func (d Device) control(do func(fd int) error) error {
	f, err := os.OpenFile(d.path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := do(int(f.Fd())); err != nil {
		return fmt.Errorf("%s: %w", d.path, err)
	}
	return nil
}

// Detach gives the device back.
func (d Device) Detach() error {
	return retry(func() error {
		return d.control(func(fd int) error { return unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0) })
	})
}

// Format makes the file system k.
func (d Device) Format(k Kind) error {
	_, err := run(k.Make[0], append(k.Make[1:len(k.Make):len(k.Make)], d.path)...)
	return err
}

// Mount mounts the file system k on the directory at.
func (d Device) Mount(k Kind, at string) error {
	if k.Type == "btrfs" { // it remembers the devices that had this file system
		if _, err := run("btrfs", "device", "scan", "--forget"); err != nil {
			return err
		}
	}
	if err := unix.Mount(d.path, at, k.Type, 0, k.Options); err != nil {
		return fmt.Errorf("mount %s: %w", k.Name, err)
	}
	return nil
}

// Unmount unmounts the file system mounted on the directory at.
func Unmount(at string) error { return retry(func() error { return unix.Unmount(at, 0) }) }

// retry tries for some seconds: the kernel holds a file for a moment after it was closed.
func retry(do func() error) error {
	for range 100 {
		if do() == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return do()
}

func run(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return string(out), err
}

// WriteImage makes the file name a disk of that size with the content of m.
func WriteImage(name string, m record.Image, size int64) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return writeBlocks(f, m)
}

// writeBlocks writes neighbours by one call.
func writeBlocks(f *os.File, m record.Image) error {
	const most = 1024 // blocks, of one call
	all := slices.Sorted(maps.Keys(m))
	for len(all) > 0 {
		var together [][]byte
		for i, k := range all[:min(len(all), most)] {
			if k != all[0]+int64(i) {
				break
			}
			together = append(together, m[k])
		}
		n, err := unix.Pwritev(int(f.Fd()), together, all[0]*record.Block)
		if err == nil && n != len(together)*record.Block {
			err = io.ErrShortWrite
		}
		if err != nil {
			return err
		}
		all = all[len(together):]
	}
	return nil
}
