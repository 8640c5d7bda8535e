package testenv

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RefuseLocks makes the system answer locks and leases of this process with errno.
func RefuseLocks(errno uint64) error {
	const number, command = 0, 24 // offsets in struct seccomp_data: of the call, and of its second argument
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	is := func(k uint32, then, otherwise uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: then, Jf: otherwise}
	}
	commands := []uint32{unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_SETLEASE}
	n := uint8(len(commands))
	filter := []unix.SockFilter{load(number), is(unix.SYS_FLOCK, n+3, 0), is(unix.SYS_FCNTL, 0, n+1), load(command)}
	for i, c := range commands {
		filter = append(filter, is(c, n-uint8(i), 0))
	}
	filter = append(filter,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, failed := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if failed != 0 {
		return failed
	}
	return nil
}
