package workflow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
)

// logReader reads one log of a session, for readers and for its next writer. It reads on
// where the log grew, and from the beginning where another log is in its place. It holds no
// file open, and one line in memory.
type logReader struct {
	name string
	rows rows

	end    sessiondir.Tail // of the lines that were taken
	mark   []byte          // the last bytes before the end: the log is still the same
	lines  int
	ids    ids
	damage error  // of the first line that is no record
	size   int64  // of what the rows keep, in bytes of memory, roughly
	synced uint64 // inode of the log whose name is known to be durable
}

// rows is what a logReader makes of the lines of a log.
type rows interface {
	// take takes a line and reports whether it is a record. The id of a record is
	// r.ids.of its id.
	take(r *logReader, line jsonl.Line) bool
	forget()
}

// markSize is the size of the part that is compared again, at the end of the bytes read.
const markSize = 1 << 10

// oneRead is how much is read at once, so that no line is of two states of the log.
const oneRead = 64 << 10

// refresh takes the lines appended to the log, and then calls then with the log. It does
// not call then where it is nil or the session has no log.
func (r *logReader) refresh(ctx context.Context, dir *sessiondir.Dir, then func(log io.ReadSeeker) error) error {
	f, now, err := dir.OpenLog(r.name)
	if errors.Is(err, fs.ErrNotExist) {
		r.reset()
		return nil
	}
	if err != nil {
		return err
	}
	n, err := r.readOn(ctx, f, now, dir.Path(r.name))
	if is, _ := dir.Stat(r.name); !is.Same(now.File) && (n > oneRead || errors.Is(err, io.ErrUnexpectedEOF)) {
		r.reset() // a writer may have cut off an incomplete line, and written its own, while it was read
		now.File = is
		_, err = r.readOn(ctx, f, now, dir.Path(r.name))
	}
	if err == nil && then != nil {
		err = then(f)
	}
	return errors.Join(err, f.Close())
}

func (r *logReader) reset() {
	*r = logReader{name: r.name, rows: r.rows}
	r.rows.forget()
}

// readOn takes the new lines of f, a log that was opened as now, and returns how many bytes
// they have.
func (r *logReader) readOn(ctx context.Context, f io.ReadSeeker, now sessiondir.Tail, path string) (int64, error) {
	same, err := r.sameLog(f, now.File)
	if err != nil {
		return 0, err
	}
	if !same {
		r.reset()
	}
	base, first, size := r.end.Whole, r.lines, now.File.Size
	if r.end.Open {
		first-- // the next bytes are the rest of that line
	}
	now.Whole, now.Open = base, r.end.Open
	r.end = now
	if _, err := f.Seek(base, io.SeekStart); err != nil {
		return 0, err
	}
	lines := jsonl.NewReader(io.LimitReader(f, size-base))
	var failed error
	whole, open := jsonl.LogOf(func(yield func(jsonl.Line) bool) {
		for failed = ctx.Err(); failed == nil; failed = ctx.Err() {
			line, err := lines.Next()
			if failed = err; err != nil {
				return
			}
			line.Offset, line.Number = line.Offset+base, line.Number+first
			if !yield(line) {
				return
			}
			r.lines = line.Number
		}
	}, size, func(line jsonl.Line) bool { return r.rows.take(r, line) }, func(line jsonl.Line) {
		r.ids.skip()
		r.damage = cmp.Or(r.damage, notRecord(path, line))
	})
	if errors.Is(failed, io.EOF) {
		failed = nil
	}
	if whole > 0 {
		size := min(whole, markSize)
		r.end.Whole, r.end.Open = whole, open
		if r.mark, err = readAt(f, span{whole - size, int(size)}); err != nil {
			r.reset()
		}
	}
	return max(0, whole-base), errors.Join(failed, err)
}

// sameLog reports whether the bytes that were read are still the beginning of f.
func (r *logReader) sameLog(f io.ReadSeeker, at sessiondir.Stamp) (bool, error) {
	if r.end.Whole == 0 || at.Size < r.end.Whole || at.Inode != r.end.File.Inode || at.Dev != r.end.File.Dev {
		return false, nil
	}
	now, err := readAt(f, span{r.end.Whole - int64(len(r.mark)), len(r.mark)})
	return bytes.Equal(now, r.mark), err
}

// wrote takes the line, with its LF, that this process appended to the log.
func (r *logReader) wrote(line []byte, end sessiondir.Tail) {
	at := end.Whole - int64(len(line))
	r.mark = append(r.mark, bytes.Repeat([]byte{'\n'}, int(at-r.end.Whole))...) // the LF that the line before lacked
	r.mark = append(r.mark, line...)
	r.mark = bytes.Clone(r.mark[max(0, len(r.mark)-markSize):])
	r.end = end
	r.lines++
	r.rows.take(r, jsonl.Line{Bytes: line[:len(line)-1], Ended: true, Offset: at, Number: r.lines})
}

// span is a line in the log; the zero span is none.
type span struct {
	offset int64
	size   int
}

func readAt(f io.ReadSeeker, at span) ([]byte, error) {
	data := make([]byte, at.size)
	_, err := f.Seek(at.offset, io.SeekStart)
	if err == nil {
		_, err = io.ReadFull(f, data)
	}
	return data, err
}
