//go:build unix

package atomicfile

import (
	"fmt"
	"os"
	"syscall"
)

// Own gives what this process has just made as name, below the directory root, to the
// owner and the group of root. Only root does: who works as root on another user's
// sessions would leave files there that the user cannot use.
func Own(root *os.Root, name string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	fi, err := root.Stat(".")
	if err != nil {
		return err
	}
	is, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || is.Uid == 0 && int(is.Gid) == os.Getegid() {
		return nil
	}
	if err := root.Lchown(name, int(is.Uid), int(is.Gid)); err != nil {
		return fmt.Errorf("give it to the owner of %s: %w", root.Name(), err)
	}
	return nil
}
