package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// extend adds what row returns to a log, as the only writer of the
// session. What was read of the log before is not read again unless another
// writer came between.
func (l *Log) extend(ctx context.Context, id, name string, load func(*sessiondir.Dir) (end, error), row func(core.Tx, *end) (any, error)) error {
	key := id + "/" + name
	var inode uint64
	err := l.core.Change(ctx, id, func(tx core.Tx) error {
		k := l.ends.take(key)
		if k == nil || !tx.Dir().Knows(name, k.end.Tail) {
			e, err := load(tx.Dir())
			if err != nil {
				return err
			}
			k = &cachedEnd{key: key, end: e}
		}
		content, err := row(tx, &k.end)
		if err != nil {
			return err
		}
		if err := l.add(ctx, tx, name, k, content); err != nil {
			return err
		}
		inode = k.end.File.Inode
		l.ends.put(k)
		return nil
	})
	if errors.Is(err, sessionstore.ErrNotFound) {
		return notFound(id)
	}
	if err == nil && l.core.Syncs() {
		l.ends.nameSynced(key, inode)
	}
	return err
}

func (l *Log) add(ctx context.Context, tx core.Tx, name string, k *cachedEnd, row any) error {
	line, err := encodeRow(row)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	k.end.Tail, err = tx.Dir().AppendLog(name, k.end.Tail, line, l.core.Syncs())
	if err != nil {
		return fmt.Errorf("append to %s: %w", name, err)
	}
	if k.synced != 0 && k.synced == k.end.File.Inode {
		tx.Changed(name)
	} else {
		// Who made the name may have been killed before it was durable.
		tx.Renamed(name)
	}
	return nil
}
