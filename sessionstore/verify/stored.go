package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// stored checks the transcript and the metadata. Files that the newer tools read without a
// remark are sound for all tools.
func (c *check) stored(of *sessionstore.Store) {
	st, err := sessionstore.Open(of.Dir(), &sessionstore.Options{CacheBytes: -1}) // a store that keeps nothing that it reads
	if err != nil {
		c.add(Damaged, "", 0, err)
		return
	}
	defer st.Close()
	found, notes, refused := st.LoadStrict(c.ctx, c.id)
	if refused == nil && len(notes) == 0 && len(found.Messages) > 0 || c.over() {
		return
	}
	s, err := st.Load(c.ctx, c.id)
	if _, gone := os.Lstat(c.dir); errors.Is(gone, fs.ErrNotExist) {
		return // it was removed since
	}
	strict := (*sessionstore.StrictError)(nil)
	switch {
	case err != nil:
		c.damage(Damaged, err, "")
	case s.Recovered != nil:
		kind := Recovered
		if _, err := os.Lstat(filepath.Join(c.dir, sessiondir.Marker)); err == nil {
			kind = Pending
		}
		c.damage(kind, s.Recovered.Reason, filepath.Base(s.Recovered.Path))
	case errors.As(refused, &strict):
		c.damage(Strict, strict.Err, strict.Source)
	}
}

// damage adds a finding for each damaged file that err names. When it names none, the
// finding names file.
func (c *check) damage(k Kind, err error, file string) {
	all := corrupt(err)
	for _, e := range all {
		c.add(k, filepath.Base(e.Path), e.Line, e.Err)
	}
	if len(all) == 0 {
		c.add(k, file, 0, err)
	}
}

// corrupt returns the errors in the tree of err that are of damaged files.
func corrupt(err error) (all []*sessionstore.CorruptError) {
	switch e := err.(type) {
	case *sessionstore.CorruptError:
		return []*sessionstore.CorruptError{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, corrupt(one)...)
		}
	case interface{ Unwrap() error }:
		return corrupt(e.Unwrap())
	}
	return all
}

// copies adds a finding for each file that a program that copies folders left there:
// another device's version of the transcript with messages of its own, and the
// placeholder of a file whose content is not on this device.
func (c *check) copies(st *sessionstore.Store) {
	if c.over() {
		return
	}
	for _, name := range []string{sessiondir.Transcript, sessiondir.Metadata, "events.jsonl"} {
		name = "." + name + ".icloud"
		if _, err := os.Lstat(filepath.Join(c.dir, name)); err == nil {
			c.add(Foreign, name, 0, errEvicted)
		}
	}
	copies, err := core.Of(st).Copies(c.ctx, c.id)
	if err != nil {
		return // the session cannot be read, which another finding reports
	}
	for _, name := range slices.Sorted(maps.Keys(copies)) {
		c.add(Foreign, name, 0, fmt.Errorf("it is another device's version: messages that the transcript does not have: %d", copies[name]))
	}
}

var errEvicted = errors.New("it stands for a file whose content is not on this device")
