package filelock

import "os"

// control calls f with file's descriptor, which stays open meanwhile.
func control(file *os.File, f func(fd uintptr) error) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	if closed := conn.Control(func(fd uintptr) { err = f(fd) }); closed != nil {
		return closed
	}
	return err
}
