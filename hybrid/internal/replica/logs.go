package replica

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// LogFile is the name of the file in the bookkeeping with another device's log.
func LogFile(sid string, st segment.Stream) string { return sid + "." + string(st) + ".jsonl" }

// WriteLog writes lines into a file beside the states, behind its first bytes, which
// stay; 0: into a new one. It returns the length of these bytes and the lines, all
// durable. Several processes may write the same file at once: the bytes at a place are
// always the same.
func (s *States) WriteLog(name string, behind int64, lines iter.Seq2[[]byte, error]) (size int64, err error) {
	if behind == 0 {
		err = s.Fill(name, func(w io.Writer) error {
			count := &counter{w: w}
			err := WriteLines(count, lines)
			size = count.n
			return err
		})
		return size, err
	}
	err = s.with(func(dir *vfs.Dir) (err error) {
		f, err := dir.Edit(name)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		fi, err := f.File().Stat()
		if err != nil {
			return err
		}
		if fi.Size() < behind {
			return fmt.Errorf("%s: %w", name, io.ErrUnexpectedEOF)
		}
		w := &writerAt{f: f, at: behind}
		if err := WriteLines(w, lines); err != nil {
			return err
		}
		size = w.at
		return f.Sync()
	})
	return size, err
}

// writerAt writes behind a place of a file.
type writerAt struct {
	f  *vfs.Edit
	at int64
}

func (w *writerAt) Write(p []byte) (int, error) {
	if err := w.f.WriteAt(p, w.at); err != nil {
		return 0, err
	}
	w.at += int64(len(p))
	return len(p), nil
}

// counter counts the bytes that are written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
