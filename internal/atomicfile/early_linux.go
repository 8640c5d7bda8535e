package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// beginSync lets the system begin to bring n bytes of f from off on to the
// disk, without waiting for them: the sync that follows has less to do. That
// it could not is for the sync to tell.
func beginSync(f *os.File, off, n int64) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), off, n, unix.SYNC_FILE_RANGE_WRITE) })
}
