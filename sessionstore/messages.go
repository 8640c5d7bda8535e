package sessionstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"

	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// stream hands the messages of a session to yield until it returns false. It
// reads a sound transcript twice, a line at a time: it hands out no message
// before it knows that the whole file is sound.
func (st *Store) stream(ctx context.Context, id string, yield func(Message) bool) (err error) {
	dir, err := st.openDir(id)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, dir.Close()) }()
	f, at, err := dir.Open(sessiondir.Transcript)
	if err == nil {
		defer func() { err = joinErrors(err, f.Close()) }()
		path := dir.Path(sessiondir.Transcript)
		sound := at.Size > 0 && !mayBeAppending(dir)
		if sound {
			err := scanRows(ctx, f, path, nil)
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
	s := st.cache.call(id)
	defer st.cache.end(s)
	t := st.transcriptOf(s, dir, id, readMetadata(dir, id, st.opts.Now).md)
	for _, m := range t.rows {
		if !yield(m) {
			return nil
		}
	}
	return t.damage
}

// scanRows hands the messages in r to yield, and returns the first damage. With
// a nil yield it only looks for damage.
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
			if more && yield != nil {
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

// Messages yields the messages of a session in order, chosen and recovered as
// by [Store.Load], with one line in memory at a time. It does not tell that they
// come from the backup: Load does. The error comes last: [ErrCorrupt] after all
// that could be read. Saves during the iteration are not seen. Each message has memory
// of its own, unless it comes from a backup; see [Message.Clone].
func (st *Store) Messages(ctx context.Context, id string) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		err := st.begin(ctx)
		if err != nil {
			yield(Message{}, wrap("read", id, err))
			return
		}
		defer st.done()
		more := true
		err = st.stream(ctx, id, func(m Message) bool {
			more = yield(m, nil)
			return more
		})
		if err != nil && more {
			yield(Message{}, wrap("read", id, err))
		}
	}
}
