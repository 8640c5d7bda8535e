package crashsim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/stretchr/testify/require"
)

// hand does single operations in a directory and announces them, as a store
// does. Nothing is really synced: that is what the model is for.
type hand struct {
	seam *seam.Seam
	dir  string
}

func (h hand) path(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }

// op returns an operation on a file below the base by its slash-separated path.
func (h hand) op(k seam.Kind, name string) seam.Op {
	full := h.path(name)
	return seam.Op{Kind: k, Dir: filepath.Dir(full), Name: filepath.Base(full)}
}

func (h hand) opTo(k seam.Kind, name, to string) seam.Op {
	op, full := h.op(k, name), h.path(to)
	op.ToDir, op.To = filepath.Dir(full), filepath.Base(full)
	return op
}

func (h hand) mkdir(name string) error {
	return h.seam.Do(h.op(seam.Mkdir, name), func() error { return os.Mkdir(h.path(name), 0o700) })
}

func (h hand) create(name string) error {
	return h.seam.Do(h.op(seam.Create, name), func() error {
		f, err := os.OpenFile(h.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		return f.Close()
	})
}

func (h hand) write(name string, off int64, data string) error {
	op := h.op(seam.Write, name)
	op.Off, op.Data = off, []byte(data)
	return h.seam.Write(op, func(b []byte) error {
		f, err := os.OpenFile(h.path(name), os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(b, off)
		return errors.Join(err, f.Close())
	})
}

func (h hand) truncate(name string, size int64) error {
	op := h.op(seam.Truncate, name)
	op.Off = size
	return h.seam.Do(op, func() error { return os.Truncate(h.path(name), size) })
}

func (h hand) chtimes(name string, t time.Time) error {
	op := h.op(seam.Chtimes, name)
	op.Time = t
	return h.seam.Do(op, func() error { return os.Chtimes(h.path(name), time.Time{}, t) })
}

func (h hand) sync(name string) error {
	return h.seam.Do(h.op(seam.Sync, name), func() error { return h.is(name, false) })
}

func (h hand) syncDir(name string) error {
	return h.seam.Do(seam.Op{Kind: seam.SyncDir, Dir: h.path(name)}, func() error { return h.is(name, true) })
}

// is fails unless name is a directory, or a file.
func (h hand) is(name string, dir bool) error {
	info, err := os.Lstat(h.path(name))
	if err == nil && info.IsDir() != dir {
		err = fs.ErrInvalid
	}
	return err
}

func (h hand) rename(name, to string) error {
	return h.seam.Do(h.opTo(seam.Rename, name, to), func() error { return os.Rename(h.path(name), h.path(to)) })
}

func (h hand) link(name, to string) error {
	return h.seam.Do(h.opTo(seam.Link, name, to), func() error { return os.Link(h.path(name), h.path(to)) })
}

func (h hand) exchange(name, to string) error {
	return h.seam.Do(h.opTo(seam.Exchange, name, to), func() error {
		if _, err := os.Lstat(h.path(to)); err != nil || name == to {
			return fs.ErrInvalid
		}
		if strings.HasPrefix(to, name+"/") || strings.HasPrefix(name, to+"/") {
			return fs.ErrInvalid
		}
		aside := h.path(name) + ".aside"
		return script(
			func() error { return os.Rename(h.path(name), aside) },
			func() error { return os.Rename(h.path(to), h.path(name)) },
			func() error { return os.Rename(aside, h.path(to)) },
		)
	})
}

func (h hand) remove(name string) error {
	return h.seam.Do(h.op(seam.Remove, name), func() error { return os.Remove(h.path(name)) })
}

func (h hand) removeAll(name string) error {
	return h.seam.Do(h.op(seam.RemoveAll, name), func() error { return os.RemoveAll(h.path(name)) })
}

// script does steps until one fails.
func script(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// record starts a recorder on a fresh tree with the given files.
func record(t *testing.T, files map[string]string) (*Recorder, hand) {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(t, os.WriteFile(full, []byte(data), 0o600))
	}
	r, err := Record(dir)
	require.NoError(t, err)
	return r, hand{&seam.Seam{After: r.After}, dir}
}

// states returns all states of a recording, of which none were left out.
func states(t *testing.T, r *Recorder, c Crash) []*State {
	t.Helper()
	require.NoError(t, r.Verify(nil))
	log, err := r.Log()
	require.NoError(t, err)
	c.Log = log
	var list []*State
	var tally Tally
	for s, err := range c.States(&tally) {
		require.NoError(t, err)
		list = append(list, s)
	}
	t.Log(tally)
	require.Equal(t, len(list), tally.States)
	require.Zero(t, tally.Left)
	return list
}

// found returns the content of a file in a state, or a mark for none.
func found(s *State, name string) string {
	b, err := s.ReadFile(name)
	if err != nil {
		return "(none)"
	}
	return string(b)
}

// outcomes returns in how many states a file has each content.
func outcomes(list []*State, name string) map[string]int {
	all := map[string]int{}
	for _, s := range list {
		all[found(s, name)]++
	}
	return all
}
