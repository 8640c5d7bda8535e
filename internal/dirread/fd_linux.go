package dirread

import (
	"errors"
	"os"

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
