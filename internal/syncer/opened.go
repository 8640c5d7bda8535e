package syncer

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// opened is a source while it is followed. A loose one is closed between its parts, since
// the store's own writes wait for readers: the store knows whether it only appended to the
// file between two parts.
type opened struct {
	source *source
	dir    *sessiondir.Dir
	file   io.ReadSeekCloser // nil: closed
	loose  bool

	// Of the file as it was opened last.
	stamp sessiondir.Stamp
	at    time.Time
	epoch uint64
}

// open opens the source for the first time.
func (h *history) open(dir *sessiondir.Dir) (*opened, error) {
	f := &opened{source: &h.source, dir: dir}
	if err := f.reopen(); err != nil {
		return nil, err
	}
	h.File, h.At, h.Epoch = f.stamp, f.at, f.epoch
	return f, nil
}

func (f *opened) reopen() (err error) {
	if f.file != nil {
		return nil
	}
	f.at = time.Now()
	if f.file, f.stamp, err = f.dir.Open(f.source.name); err == nil {
		f.epoch = f.source.core.Epoch(f.source.id, f.stamp)
	}
	return err
}

func (f *opened) close() error {
	if f.file == nil {
		return nil
	}
	file := f.file
	f.file = nil
	return file.Close()
}

// lines reads whole lines from an offset on, as [window.lines] does.
func (f *opened) lines(ctx context.Context, offset int64) (lines []byte, torn bool, err error) {
	if err := f.reopen(); err != nil {
		return nil, false, err
	}
	lines, torn, err = f.source.window.lines(ctx, f.file, offset)
	if f.loose && len(lines) > 0 {
		err = errors.Join(err, f.close())
	}
	return lines, torn, err
}

// tailBytes is how much before a place tells whether it is still the same.
const tailBytes = 4096

// tail returns the SHA-256 of the bytes before a place.
func (f *opened) tail(end int64) (sum segment.Hash, err error) {
	if err := f.reopen(); err != nil {
		return sum, err
	}
	from := max(0, end-tailBytes)
	if _, err := f.file.Seek(from, io.SeekStart); err != nil {
		return sum, err
	}
	h := sha256.New()
	if _, err := io.CopyN(h, f.file, end-from); err != nil {
		return sum, err
	}
	return segment.Hash(h.Sum(nil)), nil
}
