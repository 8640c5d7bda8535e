package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// InMemory is for TestMain, before [Main]. It has the temporary files of the tests lie in
// memory, for tests whose subject is above the disk: there, making, syncing and removing
// small files takes half of their time. They stay on the disk where [Long] holds, where
// TMPDIR is set, and where memory has less than 4 GB of room or runs no programs.
func InMemory() {
	var fs unix.Statfs_t
	if Long() || os.Getenv("TMPDIR") != "" || unix.Statfs(memory, &fs) != nil {
		return
	}
	if fs.Type != unix.TMPFS_MAGIC || fs.Flags&unix.ST_NOEXEC != 0 || int64(fs.Bavail)*int64(fs.Bsize) < 4<<30 {
		return
	}
	removeAbandoned()
	dir, err := os.MkdirTemp(memory, fmt.Sprintf("%s%d-", memoryPrefix, os.Getpid()))
	if err != nil {
		return // the disk will do
	}
	temporary = dir
	_ = os.Setenv("TMPDIR", dir) // else it stays empty
}

// memoryPrefix begins the names of directories in memory. The number of their process follows.
const memoryPrefix = "sessionstorage-test-"

// removeAbandoned removes the directories of processes that were killed.
func removeAbandoned() {
	dirs, _ := filepath.Glob(filepath.Join(memory, memoryPrefix+"*")) // the pattern is sound
	for _, dir := range dirs {
		var pid int
		_, err := fmt.Sscanf(filepath.Base(dir), memoryPrefix+"%d-", &pid)
		fi, gone := os.Stat(dir)
		if err != nil || gone != nil || time.Since(fi.ModTime()) < time.Hour {
			continue
		}
		if unix.Kill(pid, 0) == unix.ESRCH {
			_ = os.RemoveAll(dir) // another process may be at it
		}
	}
}
