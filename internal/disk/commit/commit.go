package commit

import (
	"errors"
	"io"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

var (
	// ErrRewrite is returned when a file cannot be appended to by way of its backup and
	// has to be replaced. Main is as it was.
	ErrRewrite = errors.New("file must be rewritten")

	// ErrOvertaken is returned when main is the file of another writer, which honours no
	// lock. Main must be read before anything is written.
	ErrOvertaken = vfs.ErrOvertaken

	// ErrOverwritten is returned when another writer wrote into the new main while this
	// process was stopped. Main must be written again, from memory.
	ErrOverwritten = errors.New("another program wrote into the file")
)

// A namedError is an error that came after a name was changed.
type namedError struct{ err error }

func (e *namedError) Error() string { return e.err.Error() }
func (e *namedError) Unwrap() error { return e.err }

// afterNaming marks err, if there is one, as later than the change of a name.
func afterNaming(err error) error {
	if err == nil {
		return nil
	}
	return &namedError{err}
}

// ChangedNames reports whether err came after a name was changed: the new
// content may be there, and to write it again could write it twice.
func ChangedNames(err error) bool {
	var named *namedError
	return errors.As(err, &named)
}

// File is a file of a session, with its backup. The caller holds the session's
// lock.
type File struct {
	Dir  *sessiondir.Dir
	Name string
	Sync bool // content is durable before it gets a name, else the system has begun to write it; names are durable after [vfs.Dir.Sync]
}

func (f File) backup() string { return sessiondir.Backup(f.Name) }

// Result holds the stamps of both files after a commit.
type Result struct {
	Main      sessiondir.Stamp
	Backup    sessiondir.Stamp // of the former main, or of a copy of it; zero: it is neither
	Displaced bool             // another writer's file, which had become main just before, is the backup
}

// Replacement is the new content of a file.
type Replacement struct {
	// Was is the stamp of main, whose content the caller knows; zero: any.
	Was  sessiondir.Stamp
	Time time.Time // the time of the last change that the file is given; see [vfs.Now]
	// Write writes the content. It is called again where the exchange of names
	// turns out not to work.
	Write func(io.Writer) error
	// Rotate is called when the content is ready and nothing has changed yet.
	// It reports whether main becomes the backup; else main is replaced and the
	// backup stays.
	Rotate func() (bool, error)
	// Relaxed replaces the file without a sync, whatever [File] says.
	Relaxed bool
}
