package eventslog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Open returns the line of the event h, without its end, as a stream. The
// error Is [ErrRewritten] when the log changed before the end of the event.
func (l *Log) Open(ctx context.Context, h Head) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := l.open()
	if err != nil {
		return nil, fmt.Errorf("open event: %w", err)
	}
	rs, err := newRecords(f, h.Next, l.newer)
	if err == nil && (h.Size <= 0 || rs.cursor() != h.Next) {
		err = ErrRewritten
	}
	if err != nil {
		return nil, fmt.Errorf("open event: %w", errors.Join(err, f.Close()))
	}
	return &stream{Reader: io.NewSectionReader(f, h.Offset, h.Size), file: f}, nil
}

// stream is a part of a file, which it closes.
type stream struct {
	io.Reader
	file *os.File
}

func (s *stream) Close() error { return s.file.Close() }
