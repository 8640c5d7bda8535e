package dirread

import "syscall"

// LargeFile is the flag by which a program of 32 bits opens files of 2 GiB and more.
// [os.Root] leaves it to its callers.
const LargeFile = syscall.O_LARGEFILE
