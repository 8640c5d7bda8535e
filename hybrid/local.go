package hybrid

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/segment"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// source is a file of lines of a session, read only while nothing waits for
// the cloud: an open file would make the store's own writes dearer.
type source struct {
	in     sessionstore.Inside
	id     string
	name   string // of the file
	stream segment.Stream
	start  int64    // bytes of the file that are not of the stream
	redact Redactor // nil: exact bytes
	window *window  // what is read of it; that of the visit
}

// followed is how far a source was read, as the state keeps it.
type followed struct {
	File  sessiondir.Stamp `json:"file"`
	At    time.Time        `json:"at"` // when File was taken
	Marks []segment.Mark   `json:"ckpt"`
	Tail  segment.Hash     `json:"tail"` // of the bytes before the last mark
	Torn  bool             `json:"torn,omitempty"`
	Rules string           `json:"rules,omitempty"` // version of the redaction
	Whole segment.Hash     `json:"whole,omitzero"`  // of all bytes before the last mark, where lines are redacted
}

// history is a source as it stands: its whole lines, after redaction.
type history struct {
	source
	followed
	there bool
}

func (h *history) end() segment.Mark {
	if len(h.Marks) == 0 {
		return h.begin()
	}
	return h.Marks[len(h.Marks)-1]
}

func (h *history) point() segment.Point { return h.end().Point() }

// begin returns the place at which the stream begins.
func (s *source) begin() segment.Mark {
	m := segment.Begin(s.stream)
	m.Offset = s.start
	return m
}

// look finds out how a source stands, and reads no more of it than what may
// have changed since it was last followed. A file that is only appended to in
// place is trusted up to the end that was seen, if the bytes before that are
// what they were.
func (s source) look(ctx context.Context, last *followed, appended bool) (*history, error) {
	h := &history{source: s}
	err := s.in.Read(ctx, s.id, func(dir *sessiondir.Dir) error {
		f, stamp, err := dir.Open(s.name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		h.there = true
		return errors.Join(h.follow(ctx, f, stamp, last, appended), f.Close())
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.name, err)
	}
	return h, nil
}

func (h *history) follow(ctx context.Context, f io.ReadSeeker, stamp sessiondir.Stamp, last *followed, appended bool) error {
	now := time.Now()
	if last != nil && last.Rules != h.rules() {
		last = nil
	}
	if last != nil && last.File.Same(stamp) && h.in.Settled(last.File, last.At) {
		h.followed = *last
		return nil
	}
	h.File, h.At, h.Rules = stamp, now, h.rules()
	marks := []segment.Mark{h.begin()}
	if last != nil && len(last.Marks) > 0 && h.continues(f, last, appended) {
		marks = last.Marks
	}
	return h.hash(ctx, f, marks)
}

// continues reports whether the file begins as it was when it was last
// followed, as far as that is found out faster than by hashing its lines: of a
// file that is appended to in place the end tells, and where lines are redacted
// before they are hashed, all bytes.
func (h *history) continues(f io.ReadSeeker, last *followed, appended bool) bool {
	end := last.Marks[len(last.Marks)-1].Offset
	switch {
	case end > h.File.Size:
		return false
	case appended && last.File.Dev == h.File.Dev && last.File.Inode == h.File.Inode:
		tail, err := tailSum(f, end)
		return err == nil && tail == last.Tail
	case h.redact != nil:
		whole, err := sumOf(f, 0, end)
		return err == nil && whole == last.Whole
	}
	return false
}

// rules returns the version of the redaction.
func (s *source) rules() string {
	if s.redact == nil {
		return ""
	}
	return s.redact.Version()
}

// hash goes on behind the last of marks to the last whole line.
func (h *history) hash(ctx context.Context, f io.ReadSeeker, marks []segment.Mark) error {
	t := segment.NewTracker(h.stream, nil, marks)
	for {
		lines, torn, err := h.window.lines(ctx, f, t.Mark().Offset)
		if err != nil {
			return err
		}
		if h.Torn = torn; len(lines) == 0 {
			break
		}
		for line := range jsonl.Lines(lines) {
			t.Add(line.Bytes, h.leaving(line.Bytes))
		}
	}
	h.Marks = t.Marks()
	var err error
	if h.redact != nil {
		if h.Whole, err = sumOf(f, 0, t.Mark().Offset); err != nil {
			return err
		}
	}
	h.Tail, err = tailSum(f, t.Mark().Offset)
	return err
}

// leaving returns a line as it leaves the device.
func (s *source) leaving(line []byte) []byte {
	if s.redact == nil {
		return line
	}
	return s.redact.Line(line)
}

// tailBytes is how much before a place tells whether it is still the same.
const tailBytes = 4096

func tailSum(f io.ReadSeeker, end int64) (segment.Hash, error) {
	return sumOf(f, max(0, end-tailBytes), end)
}

// sumOf returns the SHA-256 of a part of a file.
func sumOf(f io.ReadSeeker, from, end int64) (sum segment.Hash, err error) {
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return sum, err
	}
	h := sha256.New()
	if _, err := io.CopyN(h, f, end-from); err != nil {
		return sum, err
	}
	return segment.Hash(h.Sum(nil)), nil
}
