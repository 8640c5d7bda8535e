package opencode

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// maxInMemory is how long the lines of a session may be that are kept in memory, in bytes.
const maxInMemory = 8 << 20

// Open gives the lines of a session in the database, as they are now; or opens a file.
func (Tool) Open(ctx context.Context, path string) (r io.ReaderAt, size int64, leave func(), err error) {
	db, id, is := inDatabase(path)
	if !is {
		return thread.OpenPlain(ctx, path)
	}
	s := &spool{}
	err = read(ctx, db, func(r rows) error {
		err := s.reset()
		if err == nil {
			err = r.check()
		}
		if err == nil {
			err = r.lines(id, thread.WriterUntil(ctx, s))
		}
		return err
	})
	if err != nil {
		s.leave()
		return nil, 0, nil, err
	}
	if s.file != nil {
		return s.file, s.size, s.leave, nil
	}
	return bytes.NewReader(s.bytes), s.size, s.leave, nil
}

// spool keeps bytes in memory, and in a private file once they are many.
type spool struct {
	bytes []byte
	file  *os.File
	size  int64
}

func (s *spool) reset() error {
	s.bytes, s.size = s.bytes[:0], 0
	if s.file == nil {
		return nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return err
}

// Write is the method of io.Writer.
func (s *spool) Write(b []byte) (n int, err error) {
	if s.file == nil && len(s.bytes)+len(b) <= maxInMemory {
		s.bytes = append(s.bytes, b...)
		s.size += int64(len(b))
		return len(b), nil
	}
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "sessions-"); err != nil {
			return 0, err
		}
		_ = os.Remove(s.file.Name()) // so a kill leaves no copy of the conversation
		_, err = s.file.Write(s.bytes)
		s.bytes = nil
	}
	if err == nil {
		n, err = s.file.Write(b)
		s.size += int64(n)
	}
	return n, err
}

func (s *spool) leave() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name()) // where an open file stays, as on Windows
	}
}
