package crashsim

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// A Log is the list of operations of a store on a directory tree, from a durable beginning.
type Log struct {
	Steps []Step
	start *disk
	acks  []int // how many steps there were at each acknowledgement
}

// A Recorder records the operations that a store does below a base directory.
// Its [Recorder.After] is made for [seam.Seam.After].
type Recorder struct {
	base  string
	start *disk

	mu    sync.Mutex // guards the fields below
	steps []Step
	acks  []int
	err   error // the first operation that could not be recorded
}

// Record reads the tree at base, which is taken to be durable as it is, and returns a
// recorder of the operations on it from then on.
func Record(base string) (*Recorder, error) {
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	start, err := snapshot(base)
	if err != nil {
		return nil, fmt.Errorf("record tree: %w", err)
	}
	return &Recorder{base: base, start: start}, nil
}

// After records op, which has just been done, if it changed the disk.
func (r *Recorder) After(op seam.Op) {
	if op.Kind != seam.Lease && op.Kind != seam.Release {
		r.add(op, false)
	}
}

// Refused records that op was not done. Only a refused sync matters: the changes that it
// should make durable may be lost, even when a later sync succeeds.
func (r *Recorder) Refused(op seam.Op) {
	if op.Kind == seam.Sync || op.Kind == seam.SyncDir {
		r.add(op, true)
	}
}

// Acknowledge notes that the store has acknowledged a call, so that the call's data must be
// found after every later power cut; see [State.Acked].
func (r *Recorder) Acknowledge() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acks = append(r.acks, len(r.steps))
}

// Len returns how many operations have been recorded.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.steps)
}

// Log returns the recorded operations. It fails if an operation was outside of the base
// directory, or if its file could not be examined after it.
func (r *Recorder) Log() (*Log, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil, r.err
	}
	return &Log{slices.Clone(r.steps), r.start, slices.Clone(r.acks)}, nil
}

func (r *Recorder) add(op seam.Op, failed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.step(op)
	if err != nil {
		if r.err == nil {
			r.err = fmt.Errorf("record %v: %w", op.Kind, err)
		}
		return
	}
	s.Failed = failed
	r.steps = append(r.steps, s)
}

// step makes a step of op and looks up the times and modes that op lacks.
func (r *Recorder) step(op seam.Op) (s Step, err error) {
	s = Step{Kind: op.Kind, Off: op.Off, Data: bytes.Clone(op.Data)}
	if s.Path, err = r.relative(op.Dir, op.Name); err != nil {
		return s, err
	}
	if op.To != "" {
		if op.ToDir == "" {
			op.ToDir = op.Dir
		}
		if s.To, err = r.relative(op.ToDir, op.To); err != nil {
			return s, err
		}
		if s.ToTime, _, err = examine(filepath.Dir(filepath.Join(op.ToDir, op.To))); err != nil {
			return s, err
		}
	}
	switch op.Kind {
	case seam.Mkdir, seam.Create, seam.Write, seam.Truncate, seam.Chtimes:
		s.Time, s.Mode, err = examine(filepath.Join(op.Dir, op.Name))
	}
	if err != nil || op.Kind == seam.SyncDir {
		return s, err
	}
	s.DirTime, _, err = examine(filepath.Dir(filepath.Join(op.Dir, op.Name)))
	if op.Kind == seam.RemoveAll && errors.Is(err, fs.ErrNotExist) {
		err = nil // nothing was there to be removed
	}
	return s, err
}

// relative returns the path of name in dir as a step has it.
func (r *Recorder) relative(dir, name string) (string, error) {
	full, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(r.base, full)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is not below the base directory", full)
	}
	return filepath.ToSlash(rel), nil
}

func examine(name string) (time.Time, fs.FileMode, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return time.Time{}, 0, err
	}
	return info.ModTime(), info.Mode(), nil
}
