//go:build unix

package sessionstore_test

import "syscall"

// nonblocking makes an open fail that would wait for a lease.
const nonblocking = syscall.O_NONBLOCK
