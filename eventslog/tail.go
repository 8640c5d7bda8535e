package eventslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Tail returns the heads of the last n events in their order. It reads the log
// backwards and does not know the numbers of its lines. They are 0, also in heads that
// are read on from one of these.
func (l *Log) Tail(ctx context.Context, n int) ([]Head, error) {
	f, err := l.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read last events: %w", err)
	}
	heads, err := l.tail(ctx, f, n)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read last events: %w", err)
	}
	return heads, nil
}

func (l *Log) tail(ctx context.Context, f *os.File, n int) ([]Head, error) {
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	ls := l.events(true)
	back := backwards{src: f, newer: l.newer, buf: make([]byte, blockSize)}
	var heads []Head
	for end := fi.Size(); end > 0 && len(heads) < n; {
		start, err := back.lineStart(ctx, end)
		if err != nil {
			return nil, err
		}
		head, ok, err := headAt(ctx, ls, io.NewSectionReader(f, 0, end), start)
		if err != nil {
			return nil, err
		}
		if ok {
			heads = append(heads, head)
		}
		end = start
	}
	slices.Reverse(heads)
	return heads, nil
}

// headAt returns the head of the line from start to the end of src, and false
// when it is no event.
func headAt(ctx context.Context, ls *events, src *io.SectionReader, start int64) (Head, bool, error) {
	if src.Size()-start < int64(len("{}")) {
		return Head{}, false, nil
	}
	if err := ls.begin(ctx, src, Cursor{Offset: start, Line: -1}); err != nil {
		return Head{}, false, err
	}
	ln, err := ls.next()
	if errors.Is(err, io.EOF) { // the log was cut in between
		return Head{}, false, nil
	}
	if err != nil || !ls.parse(ln) {
		return Head{}, false, err
	}
	return ls.headOf(ln, ls.cursor()), true, nil
}

// backwards finds where lines begin.
type backwards struct {
	src   io.ReaderAt
	newer bool
	buf   []byte
	base  int64  // offset of held
	held  []byte // a part of the file
}

// lineStart returns where the line begins that ends, with its end, before end.
func (b *backwards) lineStart(ctx context.Context, end int64) (int64, error) {
	for end--; end > 0; end = b.base { // the byte before end may be the line's own end
		if end <= b.base || end > b.base+int64(len(b.held)) {
			if err := b.load(ctx, end); err != nil {
				return 0, err
			}
		}
		part := b.held[:end-b.base]
		i := bytes.LastIndexByte(part, '\n')
		if !b.newer {
			i = max(i, bytes.LastIndexByte(part[i+1:], '\r')+i+1)
		}
		if i >= 0 {
			return b.base + int64(i) + 1, nil
		}
	}
	return 0, nil
}

// load holds the block before end.
func (b *backwards) load(ctx context.Context, end int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	b.base = max(0, end-int64(len(b.buf)))
	b.held = b.buf[:end-b.base]
	n, err := b.src.ReadAt(b.held, b.base)
	if n == len(b.held) || errors.Is(err, io.EOF) {
		clear(b.held[n:]) // the log was cut in between
		return nil
	}
	return err
}
