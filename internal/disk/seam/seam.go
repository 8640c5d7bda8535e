// Package seam announces the operations of the store on the disk.
//
// Code that changes a file or a directory announces the operation as an [Op] before the
// operation ([Seam.Before] may refuse it) and again after it ([Seam.After]). A nil *Seam,
// as in production, announces nothing. Tests attach the instruments of package crashsim.
package seam

import (
	"errors"
	"time"
)

// Kind is the kind of an operation.
type Kind uint8

const (
	Mkdir     Kind = iota + 1 // make directory Name
	Create                    // make the empty file Name; it did not exist
	Write                     // write Data at Off of Name
	Truncate                  // set the size of Name to Off
	Chtimes                   // set the modification time of Name to Time
	Sync                      // make the content of Name durable
	SyncDir                   // make the names of Dir durable
	Rename                    // give Name the name To, replacing it
	Exchange                  // swap Name and To
	Link                      // give the file Name the second name To
	Remove                    // remove the file or empty directory Name
	RemoveAll                 // remove Name and everything below it
	Lease                     // take a lease on Name; nothing on the disk changes
	Release                   // give the lease on Name up; nothing on the disk changes
)

var kindNames = [...]string{
	Mkdir: "mkdir", Create: "create", Write: "write", Truncate: "truncate", Chtimes: "chtimes", Sync: "sync",
	SyncDir: "syncdir", Rename: "rename", Exchange: "exchange", Link: "link", Remove: "remove", RemoveAll: "removeall",
	Lease: "lease", Release: "release",
}

// String returns the kind's name in lower case.
func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return "unknown"
}

// TakesSpace reports whether an operation of kind k needs free space on the disk.
// Renaming over a name, removing and shrinking are assumed to need none.
func (k Kind) TakesSpace() bool {
	return k == Mkdir || k == Create || k == Write || k == Link
}

// An Op is one operation that changes the disk. Names are the names at the time of the
// operation.
type Op struct {
	Kind  Kind
	Dir   string    // path of the directory that holds Name
	Name  string    // base name in Dir; empty for SyncDir
	ToDir string    // Rename, Exchange, Link: directory of To; empty: Dir
	To    string    // Rename, Exchange, Link: base name
	Off   int64     // Write: offset; Truncate: size
	Data  []byte    // Write: the bytes; valid only during the call
	Time  time.Time // Chtimes: the new modification time
}

// Seam observes and refuses operations. Its fields are set before first use and called in
// the goroutine of the operation, one at a time for one directory.
type Seam struct {
	// Before is called before an operation. A non-nil error is returned in
	// its place; with a [*Short] as the error of a write, that many bytes are
	// written first.
	Before func(Op) error
	// After is called when an operation was done without error.
	After func(Op)
	// Clock is the step of the file system's clock that tests simulate: times read from
	// the file system are rounded down to it. Zero: they are not rounded.
	Clock time.Duration
}

// Short is the error of a write of which N bytes reached the file.
type Short struct {
	N   int
	Err error
}

func (e *Short) Error() string { return e.Err.Error() }
func (e *Short) Unwrap() error { return e.Err }

// Do announces op, performs it with do, and announces its end.
func (s *Seam) Do(op Op, do func() error) error {
	if s == nil {
		return do()
	}
	if s.Before != nil {
		if err := s.Before(op); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if s.After != nil {
		s.After(op)
	}
	return nil
}

// Write is [Seam.Do] for the write op; do writes the bytes that it is given.
func (s *Seam) Write(op Op, do func([]byte) error) error {
	if s == nil {
		return do(op.Data)
	}
	err := s.Do(op, func() error { return do(op.Data) })
	short := (*Short)(nil)
	if !errors.As(err, &short) {
		return err
	}
	op.Data = op.Data[:min(short.N, len(op.Data))]
	if werr := do(op.Data); werr != nil {
		return werr
	}
	if s.After != nil {
		s.After(op)
	}
	return err
}

// Create is [Seam.Do] for the making of a file whose name do chooses: Before gets the
// name in op, After the name that do returned.
func (s *Seam) Create(op Op, do func() (name string, err error)) error {
	if s == nil {
		_, err := do()
		return err
	}
	if s.Before != nil {
		if err := s.Before(op); err != nil {
			return err
		}
	}
	name, err := do()
	if err == nil && s.After != nil {
		op.Name = name
		s.After(op)
	}
	return err
}

// Round rounds a time of the file system down to the simulated clock's step.
func (s *Seam) Round(t time.Time) time.Time {
	if s == nil || s.Clock == 0 {
		return t
	}
	return t.Truncate(s.Clock)
}
