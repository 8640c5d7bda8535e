package eventslog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// Append writes the events, all in one write, at the end of the log, which is
// made when there is none. Events of calls that wait at the same time share a
// write and a sync. An event without a name, or with data that are no object, is
// refused, and with it all events of the call. When a write fails some of the
// events may be in the log, the last of them torn.
//
// ctx is looked at before, not while the events are written.
func (l *Log) Append(ctx context.Context, events ...Event) error {
	if err := l.append(ctx, events); err != nil {
		return fmt.Errorf("append events: %w", err)
	}
	return nil
}

func (l *Log) append(ctx context.Context, events []Event) error {
	if l.newer {
		return fmt.Errorf("log of another writer: %w", errors.ErrUnsupported)
	}
	var lines []byte
	for i, e := range events {
		var err error
		if lines, err = l.appendLine(lines, e); err != nil {
			return fmt.Errorf("encode event %d: %w", i, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := l.join(lines)
	if err != nil || len(lines) == 0 {
		return err
	}
	select {
	case <-b.done:
	case l.writing <- struct{}{}:
		l.commit()
		<-l.writing
	}
	<-b.done // already closed: only the holder of the turn takes a batch
	return b.err
}

// join adds lines to the next write.
func (l *Log) join(lines []byte) (*batch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	if len(lines) == 0 {
		return nil, nil
	}
	if l.batch == nil {
		l.batch = &batch{lines: lines, done: make(chan struct{})}
	} else {
		l.batch.lines = append(l.batch.lines, lines...)
	}
	return l.batch, nil
}

// commit writes the gathered lines. The caller has the turn.
func (l *Log) commit() {
	l.mu.Lock()
	b := l.batch
	l.batch = nil
	l.mu.Unlock()
	if b == nil {
		return
	}
	b.err = l.write(b.lines)
	close(b.done)
}

func (l *Log) write(lines []byte) error {
	if err := l.ready(); err != nil {
		return fmt.Errorf("open %s: %w", fileName, err)
	}
	size, torn, err := l.out.end()
	if err != nil {
		return fmt.Errorf("read end of %s: %w", fileName, err)
	}
	if torn || l.out.syncFailed {
		lines = append([]byte{'\n'}, lines...)
	}
	if err := l.out.file.Write(lines, size); err != nil {
		return fmt.Errorf("write %s: %w", fileName, err)
	}
	if !l.sync {
		return nil
	}
	if err := l.out.file.Sync(); err != nil {
		l.out.syncFailed = true
		return fmt.Errorf("sync %s: %w", fileName, err)
	}
	l.out.syncFailed = false
	return l.syncName()
}

// syncName makes the names of the file and of its directory durable. The process that made
// them may not have done so.
func (l *Log) syncName() error {
	if l.out.nameSynced {
		return nil
	}
	if err := l.out.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(l.dir))
	if err != nil {
		return fmt.Errorf("open parent directory: %w", err)
	}
	parent := vfs.New(root, l.seam)
	if err := errors.Join(parent.Sync(), parent.Close()); err != nil {
		return fmt.Errorf("sync parent directory: %w", err)
	}
	l.out.nameSynced = true
	return nil
}

// ready opens the log unless the file at its path is open already: it may
// have been replaced or removed.
func (l *Log) ready() error {
	if l.out != nil {
		fi, err := l.out.file.File().Stat()
		if err != nil {
			return err
		}
		if now, err := os.Stat(l.path()); err == nil && os.SameFile(fi, now) {
			return nil
		}
		if err := l.release(); err != nil {
			return err
		}
	}
	out, err := l.openAppend()
	if err != nil {
		return err
	}
	l.out = out
	return nil
}

func (l *Log) openAppend() (*appendFile, error) {
	if err := sessiondir.MakeAll(l.dir, l.seam); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, err
	}
	dir := vfs.New(root, l.seam)
	file, _, err := dir.Append(fileName)
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &appendFile{dir: dir, file: file}, nil
}

// release closes the open log. The caller has the turn.
func (l *Log) release() error {
	if l.out == nil {
		return nil
	}
	err := errors.Join(l.out.file.Close(), l.out.dir.Close())
	l.out = nil
	return err
}

// Close ends every Follow, waits for appends under way and releases the file.
// Further calls of all methods but Close return [fs.ErrClosed].
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.done)
	l.mu.Unlock()

	l.writing <- struct{}{}
	defer func() { <-l.writing }()
	l.commit()
	return l.release()
}
