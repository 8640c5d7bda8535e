package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// stream hands the messages of a session to yield until it returns false. A
// sound transcript is read twice, a line at a time: before the first message
// is handed out, the whole file must have been found sound.
func (st *Store) stream(ctx context.Context, id string, yield func(Message) bool) (err error) {
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	defer func() { err = also(err, dir.Close()) }()
	f, at, err := dir.Open(sessiondir.Transcript)
	if err == nil {
		defer func() { err = also(err, f.Close()) }()
		path := dir.Path(sessiondir.Transcript)
		sound := at.Size > 0 && !marked(dir) && !mayBeUnfinished(dir, at)
		if sound {
			err := scanRows(ctx, f, path, func(Message) bool { return true })
			sound = err == nil
			if ctx.Err() != nil {
				return err
			}
		}
		if sound {
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			return scanRows(ctx, f, path, yield)
		}
	}
	t := st.transcriptOf(st.session(id), dir, id, st.readMetadata(dir, id).md)
	for _, m := range t.rows {
		if !yield(m) {
			return nil
		}
	}
	return t.damage
}

// scanRows hands the messages in r to yield, and returns the first damage.
func scanRows(ctx context.Context, r io.Reader, path string, yield func(Message) bool) error {
	lines, rows := jsonl.NewReader(r), lineReader{}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		more := true
		err = rows.parse(line, func(m message) {
			if more {
				m.raw = bytes.Clone(m.raw)
				more = yield(Message{&m})
			}
		})
		if !more {
			return nil
		}
		if err != nil {
			return &CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: err}
		}
	}
}
