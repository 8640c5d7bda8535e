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
