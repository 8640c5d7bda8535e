package agentstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
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

// changing does something with the session's directory as its only writer.
func (s *State) changing(ctx context.Context, do func(*sessionstore.Work) error) error {
	if s.closed.Load() {
		return sessionstore.ErrClosed
	}
	return s.inside.Change(ctx, s.id, do)
}

// reading does something with the session's directory without a lock.
func (s *State) reading(ctx context.Context, do func(*sessiondir.Dir) error) error {
	if s.closed.Load() {
		return sessionstore.ErrClosed
	}
	return s.inside.Read(ctx, s.id, do)
}

// object is one of the files that hold an object, as it was read.
type object struct {
	raw  []byte
	at   sessiondir.Stamp // of the file, zero when there is none
	main bool             // raw is not from the backup
}

// readObject returns the object in the file name, from its backup when the
// file is missing or damaged, and {"v": 1} when there is neither. The backup
// of pending approvals never stands in.
func readObject(dir *sessiondir.Dir, name string) (object, error) {
	raw, at, err := readSound(dir, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		backup, _, berr := readSound(dir, sessiondir.Backup(name))
		switch {
		case berr == nil && name == pendingFile: // before the last change a call that ran may not have run yet
			return object{}, fmt.Errorf("read %s: %w", name, ErrDamaged)
		case berr == nil:
			return object{raw: backup, at: at}, checkVersion(backup)
		case errors.Is(err, fs.ErrNotExist) && errors.Is(berr, fs.ErrNotExist):
			return object{raw: []byte(`{"v": 1}`), main: true}, nil
		}
	}
	if err != nil {
		return object{}, err
	}
	return object{raw, at, true}, checkVersion(raw)
}

func readSound(dir *sessiondir.Dir, name string) ([]byte, sessiondir.Stamp, error) {
	raw, at, err := dir.Read(name)
	if err != nil {
		return nil, sessiondir.Stamp{}, err
	}
	if !isObject(raw) {
		return nil, at, fmt.Errorf("read %s: %w", name, ErrDamaged)
	}
	return pyjson.Trim(raw), at, nil
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
func (s *State) changeObject(ctx context.Context, w *sessionstore.Work, name string, edit func(raw []byte) ([]byte, error)) error {
	dir := w.Dir()
	old, err := readObject(dir, name)
	if err != nil {
		return err
	}
	raw, err := edit(old.raw)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = dir.ReplaceKeeping(name, s.sync, atomicfile.Now(old.at.Mtime), func(out io.Writer) error {
		_, err := out.Write(append(bytes.Clone(raw), '\n'))
		return err
	}, func() (atomicfile.Keep, error) {
		if old.main || old.at == (sessiondir.Stamp{}) {
			return dir.Retire(name, old.at, s.sync)
		}
		return atomicfile.Keep{As: dir.AsideName(name), Was: func(fs.FileInfo) bool { return true }}, nil
	})
	if err != nil {
		return err
	}
	s.renamed(w, name)
	return nil
}

// renamed tells that the name leads to another file.
func (s *State) renamed(w *sessionstore.Work, name string) {
	if s.sync {
		w.Renamed(name)
	} else {
		w.Changed(name)
	}
}

// appendLines appends whole lines to the history. What a killed writer left of
// a line is completed if it is an item, else cut off.
func (s *State) appendLines(w *sessionstore.Work, lines []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.end
	s.end = nil
	if end == nil || !w.Dir().Knows(historyFile, *end) {
		_, t, err := readHistory(w.Dir())
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		end = &t
	}
	t, err := w.Dir().AppendLog(historyFile, *end, lines, s.sync)
	if err != nil {
		return fmt.Errorf("append to %s: %w", historyFile, err)
	}
	s.end = &t
	s.renamed(w, historyFile)
	return nil
}

// readHistory returns the items of the history. A last line that was not
// written to its end is no item; any other bad line is damage.
func readHistory(dir *sessiondir.Dir) (items []json.RawMessage, end sessiondir.Tail, err error) {
	var damage error
	end, err = dir.ReadLog(historyFile, func(l jsonl.Line) bool {
		item := isObject(l.Bytes)
		if item {
			items = append(items, bytes.Clone(l.Bytes))
		}
		return item
	}, func(l jsonl.Line) {
		if damage == nil {
			damage = fmt.Errorf("read %s: line %d: %w", historyFile, l.Number, ErrDamaged)
		}
	})
	return items, end, errors.Join(err, damage)
}

func isObject(raw []byte) bool {
	return pyjson.Check(raw, pyjson.Tolerant) == nil && pyjson.KindOf(pyjson.Trim(raw)) == pyjson.Object
}
