//go:build unix

package ownership

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

const supported = true

// Ours reports whether a file belongs to the user of the process.
func Ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int64(stat.Uid) == int64(os.Getuid())
}

// userName is the login name as Python's getpass finds it.
func userName() string {
	for _, key := range []string{"LOGNAME", "USER", "LNAME", "USERNAME"} {
		if name := os.Getenv(key); name != "" {
			return name
		}
	}
	uid := strconv.Itoa(os.Getuid())
	if u, err := user.LookupId(uid); err == nil {
		return u.Username
	}
	return uid
}

// answers reports whether the system knows a process of that number.
func answers(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
