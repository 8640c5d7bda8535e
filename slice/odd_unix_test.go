//go:build unix

package slice_test

import (
	"os"

	"golang.org/x/sys/unix"
)

func init() {
	type odd = struct {
		name string
		make func(target, path string) error
	}
	oddFiles = append(oddFiles,
		odd{"symlink", os.Symlink},
		odd{"pipe", func(_, path string) error { return unix.Mkfifo(path, 0o600) }})
}
