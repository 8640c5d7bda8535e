package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// limitAppend times the least work of a save: one write of a kilobyte, and the syncs that
// the durability asks for.
func limitAppend(r *run) error {
	_, times, err := r.sizes()
	if err != nil {
		return err
	}
	d, err := r.durability(2)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.work, "file"))
	if err != nil {
		return err
	}
	defer f.Close()
	dir, err := os.Open(r.work)
	if err != nil {
		return err
	}
	defer dir.Close()
	line := []byte(strings.Repeat("x", 1023) + "\n")
	name := filepath.Join(r.work, "name")
	for range times {
		err := r.time(func() error {
			_, err := f.Write(line)
			if err == nil && d != sessionstore.Relaxed {
				err = dataSync(f)
			}
			if err == nil && d == sessionstore.Durable {
				if err = toggle(name); err == nil { // else there is nothing to sync
					err = dir.Sync()
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// toggle makes the directory name, or removes it.
func toggle(name string) error {
	err := os.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return os.Remove(name)
	}
	return err
}

// file opens the file of the arguments FILE REPS.
func (r *run) file() (f *os.File, times int, err error) {
	if len(r.args) == 0 {
		return nil, 0, errUsage
	}
	if times, err = r.number(1); err != nil {
		return nil, 0, err
	}
	f, err = os.Open(data(r.args[0]))
	return f, times, err
}

// limitRead times the reading of a file with a buffer of 1 MiB.
func limitRead(r *run) error { return r.scan(func([]byte) int { return 0 }) }

// limitScan times reading and the search for ends of lines.
func limitScan(r *run) error {
	return r.scan(func(part []byte) (lines int) {
		for {
			i := bytes.IndexByte(part, '\n')
			if i < 0 {
				return lines
			}
			lines++
			part = part[i+1:]
		}
	})
}

func (r *run) scan(look func([]byte) int) error {
	f, times, err := r.file()
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	return r.repeat(times, func() error {
		r.n = 0
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		for {
			n, err := f.Read(buf)
			r.n += look(buf[:n])
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}

// limitCopy times reading a file and writing its content to a new one.
func limitCopy(r *run) error {
	f, times, err := r.file()
	if err != nil {
		return err
	}
	defer f.Close()
	d, err := r.durability(2)
	if err != nil {
		return err
	}
	buf := make([]byte, 1<<20)
	return r.repeat(times, func() error {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		out, err := os.Create(filepath.Join(r.work, "copy"))
		if err != nil {
			return err
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{out}, struct{ io.Reader }{f}, buf)
		r.n = int(n)
		if err == nil && d != sessionstore.Relaxed {
			err = dataSync(out)
		}
		return errors.Join(err, out.Close())
	})
}

// limitList times the reading of N names with a stat of each.
func limitList(r *run) error {
	n, times, err := r.sizes()
	if err != nil {
		return err
	}
	path := data("base" + strconv.Itoa(n))
	return r.repeat(times, func() error { return statAll(path) })
}
