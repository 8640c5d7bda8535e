package opencode

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// reading lets one goroutine at a time open the files of a database. The locks that SQLite takes
// are the process's: closing another descriptor of a file would drop them.
var reading sync.Mutex

// What keeps a database from being read.
var (
	errChanging = errors.New("opencode is writing it: try again")
	errLocked   = errors.New("another program locks it: end opencode, and try again")
	errNone     = errors.New("it is no SQLite database")
	errDamaged  = errors.New("the database is damaged; \"sqlite3 FILE .recover\" may save what it has")
	errJournal  = errors.New("a transaction did not end: start and end opencode, which repairs it")
	errNoRoom   = errors.New("there is no room for the copy that its -wal needs beside an absent -shm: start and end opencode, or free some")
)

// tries is how often a database is read that changes in between.
const tries = 10

// unsettled reports whether what had changed at a time may, now, change without another time.
func unsettled(now, changed time.Time) bool {
	since := now.Sub(changed)
	return since >= 0 && since < 20*time.Millisecond
}

// stamps are facts of the files of a database: of itself, -wal, -shm and -journal. A file that
// is not there has the zero stamp.
type stamps [4]struct {
	size  int64
	mtime time.Time
	file  fs.FileInfo
}

func stampsOf(path string) (s stamps, err error) {
	for i, suffix := range suffixes {
		fi, failed := os.Stat(path + suffix)
		if failed != nil && (i == 0 || !errors.Is(failed, fs.ErrNotExist)) {
			return s, failed
		}
		if failed == nil && !fi.Mode().IsRegular() {
			return s, &fs.PathError{Op: "open", Path: path + suffix, Err: errNone}
		}
		if failed == nil {
			s[i].size, s[i].mtime, s[i].file = fi.Size(), fi.ModTime(), fi
		}
	}
	return s, nil
}

// suffixes of the names of the files, as stamps has them.
var suffixes = [...]string{"", "-wal", "-shm", "-journal"}

// equal reports whether neither database nor -wal changed.
func (s stamps) equal(o stamps) bool {
	for i := range 2 {
		a, b := s[i], o[i]
		if (a.file == nil) != (b.file == nil) || a.size != b.size || !a.mtime.Equal(b.mtime) || a.file != nil && !os.SameFile(a.file, b.file) {
			return false
		}
	}
	return true
}

// Open gives the lines of a session in the database, as they are now; or opens a file.
func (Tool) Open(ctx context.Context, path string) (r io.ReaderAt, size int64, leave func(), err error) {
	db, id, is := inDatabase(path)
	if !is {
		return thread.OpenPlain(ctx, path)
	}
	f, leave, err := thread.Scratch()
	if err != nil {
		return nil, 0, nil, err
	}
	err = read(ctx, db, func(r rows) error {
		_, err := f.Seek(0, io.SeekStart)
		if err = errors.Join(err, f.Truncate(0)); err == nil {
			err = r.check()
		}
		if err != nil {
			return err
		}
		return r.lines(id, thread.WriterUntil(ctx, f))
	})
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err != nil {
		leave()
		return nil, 0, nil, err
	}
	return f, size, leave, nil
}

// read calls do with the database at path, and again where it changed in between. It writes
// neither the database nor a file beside it, and lets every writer write:
//
//   - without a -wal, or with an empty one, SQLite takes the file for one that never changes,
//     which holds as its stamps are the same behind that;
//   - with a -wal and a -shm, SQLite reads the -shm, and takes part in the locks of the writers.
//     No transaction lasts a second, see rows.lines;
//   - with a -wal alone, SQLite would make a -shm: it reads a copy of both files, which is
//     removed behind that.
func read(ctx context.Context, path string, do func(rows) error) error {
	reading.Lock()
	defer reading.Unlock()
	err := errChanging
	for n := 0; n < tries && passes(err); n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(n) * 30 * time.Millisecond):
		}
		err = readOnce(ctx, real(path), do)
	}
	if err != nil && ctx.Err() == nil {
		err = &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return err
}

// passes reports whether an error may be of a moment at which files came or went.
func passes(err error) bool {
	return slices.ContainsFunc([]error{errChanging, errJournal, fs.ErrNotExist, fs.ErrPermission}, func(e error) bool { return errors.Is(err, e) })
}

// real returns the path to which symlinks lead: SQLite has the other files beside that one.
func real(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}

func readOnce(ctx context.Context, path string, do func(rows) error) error {
	was, err := stampsOf(path)
	if err != nil {
		return inFile(err)
	}
	switch {
	case was[3].size > 0:
		return errJournal
	case was[1].size > 0 && was[2].file != nil:
		return query(ctx, path, "mode=ro&readonly_shm=1", opened("", do))
	case was[1].size > 0:
		dir, err := os.MkdirTemp("", "sessions-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir) // again, where open files stay, as on Windows
		if path, err = copied(ctx, path, dir, was); err != nil {
			return err
		}
		return query(ctx, path, "mode=rw", opened(dir, do))
	}
	if unsettled(time.Now(), was[0].mtime) {
		return errChanging
	}
	err = query(ctx, path, "mode=ro&immutable=1", do)
	now, failed := stampsOf(path)
	if failed == nil && !was.equal(now) {
		return errChanging
	}
	return errors.Join(err, failed)
}

// opened returns do for a database that SQLite opened with its -wal, and removes the folder of a
// copy, so a kill leaves no copy of the conversations. Without a -wal, readers keep writers out.
func opened(dir string, do func(rows) error) func(rows) error {
	return func(r rows) error {
		mode := ""
		err := r.db.QueryRowContext(r.ctx, "PRAGMA journal_mode").Scan(&mode)
		_ = os.RemoveAll(dir)
		if err == nil && mode != "wal" {
			err = errChanging
		}
		if err != nil {
			return err
		}
		return do(r)
	}
}

// inFile drops the path from an error: the caller names it.
func inFile(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// copied copies a database and its -wal into a folder.
func copied(ctx context.Context, path, dir string, was stamps) (string, error) {
	if room(dir) < was[0].size+2*was[1].size+8<<20 {
		return "", errNoRoom
	}
	to := filepath.Join(dir, "copy.db")
	for _, suffix := range suffixes[:2] {
		if err := copyFile(ctx, path+suffix, to+suffix); err != nil {
			return "", err
		}
	}
	now, err := stampsOf(path)
	if err == nil && !was.equal(now) {
		err = errChanging
	}
	return to, err
}

func copyFile(ctx context.Context, from, to string) error {
	in, _, err := thread.OpenRegular(from)
	if err != nil {
		return inFile(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, thread.ReaderUntil(ctx, in))
	return errors.Join(err, out.Close())
}

// query opens a database and calls do with it.
func query(ctx context.Context, path, how string, do func(rows) error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if path = filepath.ToSlash(path); path[0] != '/' { // as C:/…
		path = "/" + path
	}
	name := url.URL{Scheme: "file", Path: path, RawQuery: how + "&_pragma=busy_timeout(2000)&_pragma=query_only(1)"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = do(rows{ctx, db})
	return errors.Join(words(err), db.Close())
}

// words returns an error of SQLite in words that say what to do.
func words(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return errLocked
	case sqlite3.SQLITE_READONLY: // the writer has to make the -shm anew, which it is about to do
		return errChanging
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return fs.ErrPermission
	case sqlite3.SQLITE_NOTADB:
		return errNone
	case sqlite3.SQLITE_CORRUPT:
		return errDamaged
	}
	return fmt.Errorf("SQLite cannot read it (%d)", e.Code())
}
