//go:build unix

package testenv

import (
	"errors"
	"os"
	"syscall"
)

// LimitDescriptors allows this process 200 descriptors and no more.
func LimitDescriptors() error {
	limit := syscall.Rlimit{Cur: 200, Max: 200}
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

// TakeDescriptors opens files until few descriptors are left; leave closes them. [LimitDescriptors] comes first.
func TakeDescriptors(few int) (leave func(), err error) {
	var all []int
	leave = func() {
		for _, fd := range all {
			_ = syscall.Close(fd) // nothing was written
		}
		all = nil
	}
	for {
		fd, err := syscall.Open(os.DevNull, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil {
			leave()
			return nil, err
		}
		all = append(all, fd)
	}
	few = min(few, len(all))
	for _, fd := range all[len(all)-few:] {
		_ = syscall.Close(fd) // nothing was written
	}
	all = all[:len(all)-few]
	return leave, nil
}
