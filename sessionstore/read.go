package sessionstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
)

// file is one file of a session as it was read.
type file struct {
	name  string
	path  string // for errors
	found bool
	data  []byte
	stamp sessiondir.Stamp
	bad   *CorruptError // nil: sound, or not found

	barred bool // it is bad because it is no regular file, leads out of the sessions directory or may not be read

	// unread is the reason why the system did not let the file be read, which may be
	// sound: nothing may be written in its place. Nil: it was read, or is no file.
	unread error
}

func (f *file) sound() bool { return f.found && f.bad == nil }

// readFile reads the file name of dir. For callers that only read, a file that cannot be
// read is damaged.
func readFile(dir *sessiondir.Dir, name string) file {
	f := file{name: name, path: dir.Path(name), found: true}
	data, stamp, err := dir.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.found = false
	case err != nil:
		f.bad, f.barred = &CorruptError{Path: f.path, Err: cause(err)}, true
		if refusedBySystem(err) {
			f.unread = unreadError(f.path, err)
		}
	}
	f.data, f.stamp = data, stamp
	return f
}

// barred returns the reason why one of files, the files of a session, could not be read
// at all, or unread if that is true of none.
func barred(unread error, files ...*file) error {
	for _, f := range files {
		if f.barred {
			return f.bad
		}
	}
	return unread
}

// refusedBySystem reports whether a regular file was not read although it may be
// sound. The next attempt may succeed.
func refusedBySystem(err error) bool {
	var errno syscall.Errno
	return noBackup(err) ||
		errors.As(err, &errno) && errno != syscall.ELOOP && errno != syscall.ENXIO && !errors.Is(err, vfs.ErrNotRegular)
}

// noBackup reports whether err forbids reading the backup, which is older, in place of a
// file that could not be read: the process or the system lacks a resource that every read
// needs, the file is too large for the program, or another program does not share it.
func noBackup(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.EINTR) || errors.Is(err, limits.ErrTooLarge) || errors.Is(err, vfs.ErrInUse)
}

func unreadError(path string, err error) error {
	return fmt.Errorf("read %s: %w (nothing was written, since the file may be whole)", path, cause(err))
}

// cause strips the operation and the path that a *fs.PathError repeats.
func cause(err error) error {
	if errors.Is(err, vfs.ErrInUse) {
		return err // which is around the path
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// parseMetadata returns the metadata in f, and marks f damaged when it holds
// something else.
func (f *file) parseMetadata() Metadata {
	if !f.sound() {
		return Metadata{}
	}
	md, err := ParseMetadata(f.data)
	if errors.As(err, &f.bad) {
		f.bad.Path = f.path
	}
	return md
}

// An empty transcript beside a backup with rows was emptied on purpose, or a
// power cut took the content of a file that was not synced. The first line of
// this table that fits decides; emptyByChance is the table.
//
//	this library emptied it: its time says so, or the
//	bookkeeping, where a clock's steps are coarse     on purpose
//	the session was rewound when the backup was made,
//	or later: a copy from before the rewind is there  on purpose
//	the metadata counts turns                         by chance
//	the metadata counts no turns: turn_count is 0     on purpose
//	it was written after the backup got its name and
//	its time: Python's save([]), which copies first   on purpose
//	else                                              by chance
//
// The last but one line holds where the file system records the time at which a file got
// its name. This library gives a file its time some milliseconds before the backup gets
// its name.
//
// With an error the first two lines could not be decided, and the others decided.
func emptyByChance(dir *sessiondir.Dir, main, backup *file, md Metadata) (bool, error) {
	meant, err := dir.MeantEmpty(main.stamp)
	if meant {
		return false, nil
	}
	before, rerr := rewound(dir, backup.stamp.Mtime)
	if before {
		return false, nil
	}
	err = cmp.Or(err, rerr)
	if turns, counted := md.Int("turn_count"); counted {
		return turns > 0, err
	}
	return main.stamp.Mtime.Before(backup.stamp.Ctime), err
}

var errEmptied = errors.New("the file is empty, but nobody emptied it on purpose")

// How long an empty transcript is read again, and how old its emptiness may be for that:
// an old tool that opened it before it was replaced may have emptied it for an instant.
const (
	emptyRecent = 2 * time.Second
	emptyLimit  = 200 * time.Millisecond
	emptyPause  = 5 * time.Millisecond
)

// readMain reads the transcript. If the transcript was emptied just now, beside a backup
// that is not empty and without the sign that this was meant, readMain reads it again
// until it has content or some time has passed.
func readMain(dir *sessiondir.Dir) file {
	f := readFile(dir, sessiondir.Transcript)
	if !emptiedNow(dir, &f) {
		return f
	}
	for until := time.Now().Add(emptyLimit); emptiedNow(dir, &f) && time.Now().Before(until); {
		time.Sleep(emptyPause)
		f = readFile(dir, sessiondir.Transcript)
	}
	return f
}

func emptiedNow(dir *sessiondir.Dir, f *file) bool {
	if !f.sound() || len(f.data) > 0 || time.Since(f.stamp.Mtime) > emptyRecent {
		return false
	}
	if meant, err := dir.MeantEmpty(f.stamp); meant || err != nil {
		return false
	}
	backup, err := dir.Stat(sessiondir.Backup(sessiondir.Transcript))
	return err == nil && backup.Size > 0
}

// rewound reports whether the session was rewound at the time of its backup or later. The
// rewinding tools put the time into the name of the copy that they keep.
func rewound(dir *sessiondir.Dir, backup time.Time) (bool, error) {
	names, err := dir.Names()
	if err != nil {
		return false, fmt.Errorf("list %s: %w", dir.Path("."), cause(err))
	}
	return slices.ContainsFunc(names, func(name string) bool {
		k, ok := sessiondir.ParseKept(name)
		return ok && k.File == sessiondir.Transcript && k.Label == sessiondir.LabelRewind && !k.Time.Add(2*time.Second).Before(backup)
	}), nil
}
