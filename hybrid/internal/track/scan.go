package track

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// Scan reads the state of a source, and reads no more of it than the part that may have
// changed since it was last followed. A file that is only appended to in place is trusted
// up to the end that was seen, if the bytes before that have not changed, and a
// transcript where the store knows that it only appended to it.
func (s Source) Scan(ctx context.Context, last *Followed, appended bool) (h *Chain, err error) {
	err = s.Core.Read(ctx, s.ID, func(dir *sessiondir.Dir) error {
		for _, loose := range [...]bool{true, false} {
			h = &Chain{Source: s}
			f, err := h.open(dir)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			h.There, f.loose = true, loose && h.Epoch != 0
			err = errors.Join(h.follow(ctx, f, last, appended), f.close())
			if err != nil || !f.loose || f.epoch == h.Epoch {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Name, err)
	}
	return h, nil
}

func (h *Chain) follow(ctx context.Context, f *opened, last *Followed, appended bool) error {
	sameRules := last != nil && last.Rules == h.rules()
	if sameRules && last.File.Same(h.File) && h.Core.Settled(last.File, last.At) {
		h.Followed = *last
		return nil
	}
	h.Rules = h.rules()
	if h.File.Size < h.Start { // cut below the beginning of the stream
		short := h.begin()
		short.Offset = h.File.Size
		h.Marks = []segment.Mark{short}
		return nil
	}
	if last != nil && !sameRules && h.Sent != nil {
		if kept, err := h.recast(ctx, f, last, h.Sent()); kept || err != nil {
			return err
		}
	}
	h.Forms, h.Mixed, h.Raw = nil, false, segment.Hash{}
	marks := []segment.Mark{h.begin()}
	if !sameRules {
		return h.hash(ctx, f, marks, fresh)
	}
	if len(last.Marks) > 0 {
		on, err := h.continues(ctx, f, last, appended)
		if err != nil {
			return err
		}
		if on {
			marks, h.Raw = last.Marks, last.Raw
		}
	}
	return h.again(ctx, f, marks, last)
}

// again follows lines behind the last of marks under the same rules as before.
func (h *Chain) again(ctx context.Context, f *opened, marks []segment.Mark, last *Followed) error {
	h.Forms, h.Mixed = Before(last.Forms, marks[len(marks)-1].N), last.Mixed
	known := Chain{Followed: Followed{Forms: last.Forms, Mixed: last.Mixed}}
	return h.hash(ctx, f, marks, known.form)
}

// continues reports whether the file begins as it did when it was last followed, as far
// as that is found out faster than by following its lines: the store knows it, or, of a
// file that is appended to in place, the last bytes decide. Where lines are redacted
// before they are hashed, the hash of the lines as they are here decides.
func (h *Chain) continues(ctx context.Context, f *opened, last *Followed, appended bool) (bool, error) {
	end := last.Marks[len(last.Marks)-1]
	switch {
	case end.Offset > h.File.Size:
		return false, nil
	case h.Epoch != 0 && h.Epoch == last.Epoch:
		return true, nil
	case appended && last.File.Dev == h.File.Dev && last.File.Inode == h.File.Inode:
		tail, err := f.tail(end.Offset)
		return tail == last.Tail, err
	case h.Redact != nil || last.Mixed:
		raw, err := h.rawUpto(ctx, f, end)
		return raw == last.Raw, err
	}
	return false, nil
}

// rawUpto returns the hash behind the lines before a mark, as they are here.
func (h *Chain) rawUpto(ctx context.Context, f *opened, end segment.Mark) (segment.Hash, error) {
	at, raw := h.Start, segment.Point{}
	for at < end.Offset {
		lines, _, err := f.lines(ctx, at)
		if err != nil || len(lines) == 0 {
			return segment.Hash{}, err
		}
		lines = lines[:min(int64(len(lines)), end.Offset-at)]
		for line := range jsonl.Lines(lines) {
			raw = raw.Add(line.Bytes)
		}
		at += int64(len(lines))
	}
	return raw.Hash, nil
}

// hash continues behind the last of marks to the last whole line.
func (h *Chain) hash(ctx context.Context, f *opened, marks []segment.Mark, known forms) error {
	t := segment.NewTracker(h.Stream, nil, marks)
	raw, redacts := segment.Point{Hash: h.Raw}, h.Redact != nil || h.Mixed
	for {
		lines, torn, err := f.lines(ctx, t.Mark().Offset)
		if err != nil {
			return err
		}
		if h.Torn = torn; len(lines) == 0 {
			break
		}
		for line := range jsonl.Lines(lines) {
			if redacts {
				raw = raw.Add(line.Bytes)
			}
			t.Add(line.Bytes, h.Add(t.Mark().N, line.Bytes, known))
		}
	}
	h.File, h.At, h.Marks, h.Raw = f.stamp, f.at, t.Marks(), segment.Hash{}
	if redacts {
		h.Raw = raw.Hash
	}
	var err error
	h.Tail, err = f.tail(t.Mark().Offset)
	return err
}

// recast follows a file again whose rules have changed. The lines up to sent are in the
// cloud, and keep their forms. It reports false when the lines here are others.
func (h *Chain) recast(ctx context.Context, f *opened, last *Followed, sent segment.Point) (bool, error) {
	h.Forms, h.Mixed, h.Raw = nil, false, segment.Hash{}
	old := Chain{Followed: Followed{Forms: last.Forms, Mixed: true}}
	err := h.hash(ctx, f, []segment.Mark{h.begin()}, func(n int64, line []byte) ([]byte, bool) {
		if n >= sent.N {
			return nil, false
		}
		if form, ok := old.form(n, line); ok {
			return form, true
		}
		return line, true // no rules changed it
	})
	if err != nil {
		return false, err
	}
	at, ok, err := h.pointAt(ctx, f, sent.N)
	return ok && at == sent, err
}

// pointAt returns the point behind n lines of an open file that was followed. It reads
// the lines behind the mark before n again: none when n is the end, and otherwise fewer
// than there are behind n, give or take a few. Only changed rules make it necessary.
func (h *Chain) pointAt(ctx context.Context, f *opened, n int64) (segment.Point, bool, error) {
	if n > h.End().N {
		return segment.Point{}, false, nil
	}
	at, ok := segment.Floor(h.Marks, n)
	if !ok {
		at = h.begin()
	}
	t := segment.NewTracker(h.Stream, nil, []segment.Mark{at})
	for t.Mark().N < n {
		lines, _, err := f.lines(ctx, t.Mark().Offset)
		if err != nil || len(lines) == 0 {
			return segment.Point{}, false, err
		}
		for line := range jsonl.Lines(lines) {
			if t.Mark().N < n {
				t.Add(line.Bytes, h.Leaving(t.Mark().N, line.Bytes))
			}
		}
	}
	return t.Mark().Point(), true, nil
}

// opened is a source while it is followed. A loose one is closed between its parts, since
// the store's own writes wait for readers: the store knows whether it only appended to the
// file between two parts.
type opened struct {
	source *Source
	dir    *sessiondir.Dir
	file   io.ReadSeekCloser // nil: closed
	loose  bool

	// Of the file as it was opened last.
	stamp sessiondir.Stamp
	at    time.Time
	epoch uint64
}

// open opens the source for the first time.
func (h *Chain) open(dir *sessiondir.Dir) (*opened, error) {
	f := &opened{source: &h.Source, dir: dir}
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
	if f.file, f.stamp, err = f.dir.Open(f.source.Name); err == nil {
		f.epoch = f.source.Core.Epoch(f.source.ID, f.stamp)
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

// lines reads whole lines from an offset on, as [Window.Lines] does.
func (f *opened) lines(ctx context.Context, offset int64) (lines []byte, torn bool, err error) {
	if err := f.reopen(); err != nil {
		return nil, false, err
	}
	lines, torn, err = f.source.Window.Lines(ctx, f.file, offset)
	if f.loose && len(lines) > 0 {
		err = errors.Join(err, f.close())
	}
	return lines, torn, err
}

// tailBytes is the number of bytes before a place that show whether it is still the same.
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
