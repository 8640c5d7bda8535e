package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/lock"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

const (
	stateFile  = "session-state.json"
	backupFile = stateFile + ".backup"
	lockFile   = ".session-state.lock"
	maxSize    = 64 << 20 // of a state; a real one has some kilobytes
)

// folder is the open directory of a session.
type folder struct {
	*vfs.Dir
}

// openFolder opens path, which must be a directory and no symlink.
func (d *Dir) openFolder(path string) (*folder, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, ErrNotADirectory
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &folder{vfs.New(root, d.opts.seam)}, nil
}

// lock excludes every other writer of the state, of any process. The error is
// fs.ErrNotExist when path now leads elsewhere: the session was cleaned up.
func (f *folder) lock(ctx context.Context, path string) (*lock.Lock, error) {
	held, err := lock.Acquire(ctx, f.Root(), lockFile, lock.Options{})
	if errors.Is(err, lock.ErrBusy) && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", sessionstore.ErrLocked, err)
	}
	if err != nil {
		return nil, err
	}
	is, err := f.Root().Stat(".")
	if err == nil {
		var at fs.FileInfo
		if at, err = os.Lstat(path); err == nil && !os.SameFile(is, at) {
			err = limits.Errorf(fs.ErrNotExist, "the directory of the session was removed")
		}
	}
	if err != nil {
		return nil, errors.Join(err, held.Unlock())
	}
	return held, nil
}

// read returns the state, from the backup when the file is missing or damaged.
func (f *folder) read() (State, error) {
	raw, err := f.readFile(stateFile)
	if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.As(err, new(*pyjson.Error)) {
		return parse(raw, err)
	}
	backup, berr := f.readFile(backupFile)
	if berr != nil {
		return State{}, err
	}
	s, berr := parse(backup, nil)
	if berr != nil {
		return State{}, err
	}
	s.Recovered = true
	return s, nil
}

func parse(raw []byte, err error) (State, error) {
	if err != nil {
		return State{}, err
	}
	if r := validate(raw); len(r.Violations) > 0 {
		return State{}, &InvalidError{r.Violations}
	}
	return State{raw: raw}, nil
}

// readFile returns the JSON in the file name. The error is a [*pyjson.Error]
// when there is none in it.
func (f *folder) readFile(name string) ([]byte, error) {
	fi, err := f.Root().Stat(name) // before it is opened: a pipe would not open
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() || fi.Size() > maxSize {
		return nil, fmt.Errorf("read %s: not a regular file of at most %d bytes", name, maxSize)
	}
	file, err := f.Root().Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, err
	}
	if err := pyjson.Check(raw, pyjson.Tolerant); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return pyjson.Trim(raw), nil
}

// write replaces the state, in the form of Python's json.dump with an indent of 2. The file
// before becomes the backup. If it was damaged, so that the backup was read instead, it is
// put aside.
func (f *folder) write(old State, raw []byte, sync bool) (State, error) {
	raw, err := pyjson.Append(nil, raw, pyjson.Style{Indent: 2, ASCII: true, Finite: true})
	if err != nil {
		return State{}, err
	}
	if r := validate(raw); len(r.Violations) > 0 {
		return State{}, &InvalidError{r.Violations}
	}
	if len(raw) > maxSize {
		return State{}, fmt.Errorf("write %s: more than %d bytes", stateFile, maxSize)
	}
	at := time.Time{}
	if fi, err := f.Root().Lstat(stateFile); err == nil {
		at = fi.ModTime()
		keep := func() error { return f.Copy(stateFile, backupFile, sync) }
		if old.Recovered {
			aside := stateFile + ".damaged-" + at.UTC().Format("20060102T150405.000000000Z")
			keep = func() error { return f.Copy(stateFile, aside, sync) }
		}
		if err := keep(); err != nil {
			return State{}, fmt.Errorf("keep %s: %w", stateFile, err)
		}
	}
	err = f.Replace(stateFile, sync, vfs.Now(at), func(w io.Writer) error {
		_, err := io.Copy(w, strings.NewReader(string(raw)))
		return err
	})
	if err == nil && sync {
		err = f.Sync()
	}
	if err != nil {
		return State{}, err
	}
	return State{raw: raw}, nil
}

// removeState removes the state and its backup.
func (f *folder) removeState() error {
	for _, name := range []string{backupFile, stateFile} {
		if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// memberOr returns the member name of obj, or an empty value in its place when it is
// missing or null.
func memberOr(obj []byte, name, empty string) []byte {
	v, found := pyjson.Lookup(obj, name)
	if !found || pyjson.KindOf(v) == pyjson.Null {
		return []byte(empty)
	}
	return v
}

// appendedTo returns obj with item at the end of the array name.
func appendedTo(obj []byte, name string, item []byte) ([]byte, error) {
	list := memberOr(obj, name, "[]")
	if pyjson.KindOf(list) != pyjson.Array {
		return nil, fmt.Errorf("add to %s: not an array", name)
	}
	var items [][]byte
	for v := range pyjson.Elements(list) {
		items = append(items, v)
	}
	return pyjson.Splice(obj, name, pyjson.ArrayOf(append(items, item))), nil
}

// encodeObject encodes v, which must be an object in JSON.
func encodeObject(v any) ([]byte, error) {
	raw, err := pyjson.Encode(v)
	if err != nil {
		return nil, err
	}
	raw = pyjson.Trim(raw)
	if pyjson.KindOf(raw) != pyjson.Object {
		return nil, fmt.Errorf("not an object")
	}
	return raw, nil
}

// stamp returns t as it is written: RFC 3339 in UTC with milliseconds.
func stamp(t time.Time) []byte {
	return pyjson.Quote(pytime.Stamp(t))
}
