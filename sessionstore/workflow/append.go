package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// read returns the rows of a log. A session that does not exist has none.
func read[T any](ctx context.Context, l *Log, id, name string, rowID func(*T) *int64) (j journal[T], err error) {
	err = l.inside.Read(ctx, id, func(dir *sessiondir.Dir) error {
		j, _, err = readJournal(dir, name, rowID)
		return err
	})
	if errors.Is(err, sessionstore.ErrNotFound) {
		return journal[T]{}, nil
	}
	return j, err
}

// extend adds what row returns to a log, as the only writer of the
// session. What was read of the log before is not read again unless another
// writer came between.
func (l *Log) extend(ctx context.Context, id, name string, load func(*sessiondir.Dir) (end, error), row func(*sessionstore.Work, *end) (any, error)) error {
	key := id + "/" + name
	var inode uint64
	err := l.inside.Change(ctx, id, func(w *sessionstore.Work) error {
		k := l.ends.take(key)
		if k == nil || !w.Dir().Knows(name, k.end.Tail) {
			e, err := load(w.Dir())
			if err != nil {
				return err
			}
			k = &kept{key: key, end: e}
		}
		content, err := row(w, &k.end)
		if err != nil {
			return err
		}
		if err := l.add(ctx, w, name, k, content); err != nil {
			return err
		}
		inode = k.end.File.Inode
		l.ends.keep(k)
		return nil
	})
	if errors.Is(err, sessionstore.ErrNotFound) {
		return notFound(id)
	}
	if err == nil && l.inside.Sync() {
		l.ends.named(key, inode)
	}
	return err
}

func (l *Log) add(ctx context.Context, w *sessionstore.Work, name string, k *kept, row any) error {
	line, err := encodeRow(row)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	k.end.Tail, err = w.Dir().AppendLog(name, k.end.Tail, line, l.inside.Sync())
	if err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	if k.named != 0 && k.named == k.end.File.Inode {
		w.Changed(name)
	} else {
		// Who made the name may have been killed before it was durable.
		w.Renamed(name)
	}
	return nil
}
