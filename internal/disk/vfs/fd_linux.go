package vfs

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// onFd is [WithFd], and calls do again when a signal interrupted it.
func onFd(f *os.File, do func(fd int) error) error {
	return WithFd(f, func(fd int) error {
		for {
			if err := do(fd); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
}

// LargeFile is the flag by which a program of 32 bits opens files of 2 GiB and more.
// [os.Root] leaves it to its callers.
const LargeFile = syscall.O_LARGEFILE

// uninterrupted repeats a call for as long as signals interrupt it.
func uninterrupted(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
