package crashsim

import (
	"errors"
	"sync"
	"syscall"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
)

// A Failer refuses one operation of a store. Its [Failer.Before] is made for
// [seam.Seam.Before]. The exported fields are set before first use.
type Failer struct {
	At   int   // the operation that fails, counted from 0; negative: none, they are only counted
	Err  error // the error of that operation, such as syscall.EIO
	Part int   // percent of the bytes of a failing write that reach the file
	// Stays makes later operations fail as well. With ENOSPC only operations that take
	// space fail (see [seam.Kind.TakesSpace]): a full disk can be cleaned.
	Stays bool
	// Refused, if not nil, is called with each refused operation. [Recorder.Refused]
	// belongs here: a failed sync may lose the changes that it should make durable.
	Refused func(seam.Op)

	mu    sync.Mutex // guards the fields below
	count int
	first seam.Op
	hit   bool
}

// Before counts op and refuses it when its turn has come.
func (f *Failer) Before(op seam.Op) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.count
	f.count++
	if !f.fails(n, op.Kind) {
		return nil
	}
	if !f.hit {
		f.hit, f.first = true, op
		f.first.Data = nil
	}
	if f.Refused != nil {
		f.Refused(op)
	}
	if op.Kind == seam.Write && f.Part > 0 {
		return &seam.Short{N: len(op.Data) * min(f.Part, 100) / 100, Err: f.Err}
	}
	return f.Err
}

// fails reports whether operation n, which is of kind k, fails.
func (f *Failer) fails(n int, k seam.Kind) bool {
	if f.At < 0 || n < f.At {
		return false
	}
	if n == f.At {
		return true
	}
	return f.Stays && (k.TakesSpace() || !errors.Is(f.Err, syscall.ENOSPC))
}

// Count returns how many operations were announced, refused ones included.
func (f *Failer) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Failed returns the first refused operation, without its data, and false
// when there was none.
func (f *Failer) Failed() (seam.Op, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.first, f.hit
}
