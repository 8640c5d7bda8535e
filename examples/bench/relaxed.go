package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// relaxed times Append and UpdateMetadata of a store that does not sync, each in
// turn with the bare calls that promise the same: a reader meets whole files, the
// backup is the state before, and the system has begun to write the content when
// names change. The bare calls check nothing, lock nothing and read nothing.
func relaxed(r *run) error {
	n, times, err := r.sizes()
	if err != nil {
		return err
	}
	dir, err := r.prepare(n)
	if err != nil {
		return err
	}
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	if err != nil {
		return err
	}
	defer st.Close()
	ctx := context.Background()
	w := &writer{st: st}
	line, err := w.message()
	if err != nil {
		return err
	}
	rows := &bareLog{dir: r.work, line: append(line.AppendTo(nil), '\n')}
	if err := rows.open(filepath.Join(dir, sessionID, "transcript.jsonl")); err != nil {
		return err
	}
	defer rows.close()
	err = r.beside("append", times, func(int) error {
		return st.Append(ctx, sessionID, line)
	}, func(int) error { return rows.append() })
	if err != nil {
		return err
	}
	return r.beside("metadata", times, func(i int) error {
		_, err := st.UpdateMetadata(ctx, sessionID, func(md *sessionstore.Metadata) error { return md.Set("turn_count", 100+i) })
		return err
	}, func(i int) error { return bareReplace(r.work, []byte(metadata+strconv.Itoa(100+i))) })
}

// beside times ours and bare in turn, after two of each, and prints a line for both.
func (r *run) beside(name string, times int, ours, bare func(i int) error) error {
	var took [2][]time.Duration
	for i := range times + 2 {
		for k, do := range [...]func(int) error{ours, bare} {
			start := time.Now()
			if err := do(i); err != nil {
				return err
			}
			if i >= 2 {
				took[k] = append(took[k], time.Since(start))
			}
		}
	}
	for k, op := range [...]string{"relaxed-" + name, "relaxed-" + name + "-bare"} {
		one := result{Op: op, N: times, Median: median(took[k]).Seconds(), Memory: peakMemory()}
		if err := json.NewEncoder(r.out).Encode(one); err != nil {
			return err
		}
	}
	return nil
}

// bareLog is a file and its backup. Each is written in turn, with the lines that it lacks.
type bareLog struct {
	dir   string
	line  []byte
	files [2]*os.File // main and backup
	sizes [2]int64
}

// open makes both files from the file at path.
func (b *bareLog) open(path string) error {
	for i, name := range [...]string{"main", "main.backup"} {
		to := filepath.Join(b.dir, name)
		if err := copyFile(to, path); err != nil {
			return err
		}
		f, err := os.OpenFile(to, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		b.files[i] = f
		info, err := f.Stat()
		if err != nil {
			return err
		}
		b.sizes[i] = info.Size()
	}
	return nil
}

// append writes the missing lines and the new line to the backup, and exchanges the names.
func (b *bareLog) append() error {
	main, backup := b.files[0], b.files[1]
	size := b.sizes[0] + int64(len(b.line))
	lacks := make([]byte, 0, 2*len(b.line))
	for b.sizes[1]+int64(len(lacks)) < size {
		lacks = append(lacks, b.line...)
	}
	if _, err := backup.WriteAt(lacks, b.sizes[1]); err != nil {
		return err
	}
	if err := beginWriting(backup); err != nil {
		return err
	}
	if err := exchange(filepath.Join(b.dir, "main"), filepath.Join(b.dir, "main.backup")); err != nil {
		return err
	}
	b.files, b.sizes = [2]*os.File{backup, main}, [2]int64{size, b.sizes[0]}
	return nil
}

func (b *bareLog) close() {
	for _, f := range b.files {
		_ = f.Close() // after an error of open there may be none
	}
}

// bareReplace gives a small file new content, and keeps the old content as its backup.
func bareReplace(dir string, content []byte) error {
	temp, name := filepath.Join(dir, "small.tmp"), filepath.Join(dir, "small")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = beginWriting(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	switch err := exchange(temp, name); {
	case errors.Is(err, os.ErrNotExist):
		return os.Rename(temp, name)
	case err != nil:
		return err
	}
	return os.Rename(temp, name+".backup")
}
