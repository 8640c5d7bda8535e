package agentstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/filelock"
	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const (
	historyFile = "state_history.jsonl"
	stateFile   = "state.json"
	pendingFile = "pending_approvals.json"
)

// What callers branch on, with [errors.Is].
var (
	ErrVersion  = errors.New("file of a newer version")
	ErrDamaged  = errors.New("file is damaged")
	ErrNotEmpty = errors.New("state has a history already")
	ErrInvalid  = errors.New("invalid value")
)

// locked does something with the session's directory under its lock.
func (s *State) locked(ctx context.Context, do func(*sessiondir.Dir) error) (err error) {
	dir, err := s.base.Dir(s.id)
	if err != nil {
		return err
	}
	defer dir.Close()
	lock, err := s.base.Lock(ctx, s.id)
	if errors.Is(err, filelock.ErrBusy) {
		return fmt.Errorf("%w: %w", sessionstore.ErrLocked, err)
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return do(dir)
}

// reading does something with the session's directory without a lock.
func (s *State) reading(ctx context.Context, do func(*sessiondir.Dir) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := s.base.Dir(s.id)
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

// readObject returns the object in the file name, from its backup when the
// file is missing or damaged, and {"v": 1} when there is neither. The backup
// of pending approvals never stands in.
func readObject(dir *sessiondir.Dir, name string) (raw []byte, main bool, err error) {
	raw, err = readSound(dir, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		backup, berr := readSound(dir, sessiondir.Backup(name))
		switch {
		case berr == nil && name == pendingFile: // before the last change a call that ran may not have run yet
			return nil, false, fmt.Errorf("read %s: %w", name, ErrDamaged)
		case berr == nil:
			return backup, false, checkVersion(backup)
		case errors.Is(err, fs.ErrNotExist) && errors.Is(berr, fs.ErrNotExist):
			return []byte(`{"v": 1}`), true, nil
		}
	}
	if err != nil {
		return nil, false, err
	}
	return raw, true, checkVersion(raw)
}

func readSound(dir *sessiondir.Dir, name string) ([]byte, error) {
	raw, _, err := dir.Read(name)
	if err != nil {
		return nil, err
	}
	if pyjson.Check(raw, pyjson.Tolerant) != nil || pyjson.KindOf(pyjson.Trim(raw)) != pyjson.Object {
		return nil, fmt.Errorf("read %s: %w", name, ErrDamaged)
	}
	return pyjson.Trim(raw), nil
}

func checkVersion(raw []byte) error {
	v, found := pyjson.Lookup(raw, "v")
	if n, ok := pyjson.Int(v); found && (!ok || n != 1) {
		return ErrVersion
	}
	return nil
}

// changeObject replaces the object in the file name by what edit makes of it.
// What stood there becomes the backup, or is put aside when it is damaged.
func (s *State) changeObject(ctx context.Context, dir *sessiondir.Dir, name string, edit func(raw []byte) ([]byte, error)) error {
	raw, main, err := readObject(dir, name)
	if err != nil {
		return err
	}
	if raw, err = edit(raw); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	at := time.Time{}
	if stamp, err := dir.Stat(name); err == nil {
		at = stamp.Mtime
		to := sessiondir.Backup(name)
		if !main {
			to = dir.AsideName(name)
		}
		if err := dir.Copy(name, to, s.sync); err != nil {
			return err
		}
	}
	err = dir.Replace(name, s.sync, atomicfile.Now(at), func(w io.Writer) error {
		_, err := w.Write(append(bytes.Clone(raw), '\n'))
		return err
	})
	if err == nil && s.sync {
		err = dir.Sync()
	}
	return err
}

// appendLines appends whole lines to the history. What a killed writer left of
// a line is completed if it is an item, else cut off.
func (s *State) appendLines(dir *sessiondir.Dir, lines []byte) error {
	e, err := dir.Edit(historyFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = dir.Replace(historyFile, s.sync, time.Now(), func(w io.Writer) error {
			_, err := w.Write(lines)
			return err
		})
		if err == nil && s.sync {
			err = dir.Sync()
		}
		return err
	}
	if err != nil {
		return err
	}
	return errors.Join(s.extend(dir, e, lines), e.Close())
}

func (s *State) extend(dir *sessiondir.Dir, e *atomicfile.Edit, lines []byte) error {
	fi, err := e.File().Stat()
	if err != nil {
		return err
	}
	size, last := fi.Size(), []byte{'\n'}
	if size > 0 {
		if _, err := e.File().ReadAt(last, size-1); err != nil {
			return err
		}
	}
	end := size
	if last[0] != '\n' {
		data, _, err := dir.Read(historyFile)
		if err != nil {
			return err
		}
		if tail := bytes.LastIndexByte(data, '\n') + 1; isObject(data[tail:]) {
			lines = append([]byte("\n"), lines...)
		} else if err := e.Truncate(int64(tail)); err == nil {
			end = int64(tail)
		} else {
			return err
		}
	}
	if err := e.WriteAt(lines, end); err != nil {
		return errors.Join(err, e.Truncate(end))
	}
	if s.sync {
		return e.Sync()
	}
	return nil
}

// parseHistory returns the items of a history. A last line that was not
// written to its end is no item; any other bad line is damage.
func parseHistory(data []byte) (items []json.RawMessage, err error) {
	for l := range jsonl.Lines(data) {
		switch {
		case isObject(l.Bytes):
			items = append(items, bytes.Clone(l.Bytes))
		case l.Ended && err == nil:
			err = fmt.Errorf("read %s: line %d: %w", historyFile, l.Number, ErrDamaged)
		}
	}
	return items, err
}

func isObject(raw []byte) bool {
	return pyjson.Check(raw, pyjson.Tolerant) == nil && pyjson.KindOf(pyjson.Trim(raw)) == pyjson.Object
}
