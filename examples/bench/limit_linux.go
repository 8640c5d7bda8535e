package main

import (
	"errors"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// dataSync makes the content of f durable.
func dataSync(f *os.File) error {
	defer runtime.KeepAlive(f)
	return unix.Fdatasync(int(f.Fd()))
}

// beginWriting has the system begin to write the content of f, and does not wait.
func beginWriting(f *os.File) error {
	defer runtime.KeepAlive(f)
	return unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}

// exchange exchanges two names at one instant.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// statAll reads the names in a directory and asks about each.
func statAll(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	names, err := dir.Readdirnames(-1)
	var at unix.Stat_t
	for _, name := range names {
		err = errors.Join(err, unix.Fstatat(int(dir.Fd()), name, &at, 0))
	}
	return errors.Join(err, dir.Close())
}
