package agentstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/commit"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/approvals"
)

const (
	historyFile = "state_history.jsonl"
	stateFile   = sessiondir.State
	pendingFile = approvals.CallsFile
)

// The errors that callers branch on, with [errors.Is].
var (
	ErrVersion  = errors.New("file of a newer version")
	ErrDamaged  = errors.New("file is damaged")
	ErrNotEmpty = errors.New("state has a history already")
	ErrInvalid  = errors.New("invalid value")
)

// object is one of the files that hold an object, as it was read.
type object struct {
	raw  []byte
	at   sessiondir.Stamp // of the file, zero when there is none
	main bool             // raw is not from the backup
}

// readObject returns the object in the file name, from its backup when the file is missing
// or damaged, and {"v": 1} when there is neither. The backup of pending approvals is never
// read instead.
func readObject(dir *sessiondir.Dir, name string) (object, error) {
	return readObjectBy(func(name string) ([]byte, sessiondir.Stamp, error) { return readSound(dir, name) }, name)
}

// readObjectBy is readObject with a function that reads a file and checks that it is sound.
// Readers take no lock. So a file that is missing beside a backup is read once more: other
// processes may have made both after the first look.
func readObjectBy(read func(name string) ([]byte, sessiondir.Stamp, error), name string) (object, error) {
	raw, at, err := read(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) {
		backup, _, berr := read(sessiondir.Backup(name))
		if berr == nil && errors.Is(err, fs.ErrNotExist) {
			raw, at, err = read(name)
		}
		switch {
		case err == nil:
			return object{raw, at, true}, checkVersion(raw)
		case berr == nil && name == pendingFile: // before the last change a call that ran may not have run yet
			return object{}, fmt.Errorf("read %s: %w: which calls ran is not known; once it and its backup are moved away, each call can be asked for anew", name, ErrDamaged)
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

// changeObject replaces the object in the file name by the result of edit. The file before
// becomes the backup, or is put aside when it is damaged.
func (s *State) changeObject(ctx context.Context, tx core.Tx, name string, edit func(raw []byte) ([]byte, error)) error {
	dir := tx.Dir()
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
	return tx.Replace(name, commit.Replacement{
		Was:  old.at,
		Time: vfs.Now(old.at.Mtime),
		Write: func(out io.Writer) error {
			_, err := out.Write(append(bytes.Clone(raw), '\n'))
			return err
		},
		Rotate: func() (bool, error) {
			if old.main || old.at == (sessiondir.Stamp{}) {
				return true, nil
			}
			_, err := dir.QuarantineLinked(name)
			return false, err
		},
		Relaxed: !s.sync,
	})
}

// renamed notes that the name leads to another file.
func (s *State) renamed(tx core.Tx, name string) {
	if s.sync {
		tx.Renamed(name)
	} else {
		tx.Changed(name)
	}
}

func isObject(raw []byte) bool {
	return pyjson.Check(raw, pyjson.Tolerant) == nil && pyjson.KindOf(pyjson.Trim(raw)) == pyjson.Object
}

func wrapError(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// touched returns raw with the time of this access, and of the first one.
func (s *State) touched(raw []byte) ([]byte, error) {
	now := pyjson.Quote(pytime.Stamp(s.now()))
	if _, found := pyjson.Lookup(raw, "created"); !found {
		raw = pyjson.Splice(raw, "created", now)
	}
	return pyjson.Splice(raw, "lastAccessed", now), nil
}

// edit changes state.json.
func (s *State) edit(ctx context.Context, what string, edit func(raw []byte) ([]byte, error)) error {
	err := s.changing(ctx, func(tx core.Tx) error {
		return s.changeObject(ctx, tx, stateFile, func(raw []byte) ([]byte, error) {
			raw, err := edit(raw)
			if err != nil {
				return nil, err
			}
			return s.touched(raw)
		})
	})
	return wrapError(what, err)
}

// object returns state.json.
func (s *State) object(ctx context.Context) (raw []byte, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		o, err := readObject(dir, stateFile)
		raw = o.raw
		return err
	})
	return raw, err
}

// member returns a member that is there and not null, else nil.
func member(obj []byte, name string) []byte {
	v, found := pyjson.Lookup(obj, name)
	if !found || pyjson.KindOf(v) == pyjson.Null {
		return nil
	}
	return v
}
