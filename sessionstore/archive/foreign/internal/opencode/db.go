package opencode

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	readonly "modernc.org/sqlite/vfs"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// reading lets one goroutine at a time open the files of a database. The locks that SQLite takes
// are the process's: closing another descriptor of a file would drop them.
var reading = make(chan struct{}, 1)

// What keeps a database from being read.
var (
	errChanging = errors.New("opencode is writing it: try again")
	errLocked   = errors.New("another program locks it: end opencode, and try again")
	errNone     = errors.New("it is no SQLite database")
	errDamaged  = errors.New("the database is damaged; \"sqlite3 FILE .recover\" may save what it has")
	errJournal  = errors.New("a transaction did not end: start and end opencode, which repairs it")
)

// tries is how often a database is read that changes in between.
const tries = 10

// unsettled reports whether what had changed at a time may, now, change without another time.
func unsettled(now, changed time.Time) bool {
	since := now.Sub(changed)
	return since >= 0 && since < 20*time.Millisecond
}

// stamps are of the files of a database: of itself, -wal, -shm and -journal; zero for a file that
// is not there.
type stamps [4]vfs.Stamp

// suffixes of the names of the files, as stamps has them.
var suffixes = [...]string{"", "-wal", "-shm", "-journal"}

func stampsOf(path string) (s stamps, err error) {
	for i, suffix := range suffixes {
		fi, err := os.Stat(path + suffix)
		switch {
		case err == nil && !fi.Mode().IsRegular():
			return s, errNone
		case err == nil:
			s[i] = vfs.StampOf(fi, nil)
		case i == 0 || !errors.Is(err, fs.ErrNotExist):
			return s, err
		}
	}
	return s, nil
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
		out := io.NewOffsetWriter(f, 0) // over what an earlier try wrote
		err := r.lines(id, thread.WriterUntil(ctx, out))
		size, _ = out.Seek(0, io.SeekCurrent) // which does not fail
		return err
	})
	if err != nil {
		leave()
		return nil, 0, nil, err
	}
	return f, size, leave, nil
}

// read calls do with the database at path, and again where it changed in between. It writes
// neither the database nor a file beside it, and lets every writer write:
//
//   - with a -wal and a -shm, SQLite reads the -shm, and takes part in the locks of the writers.
//     No transaction lasts a second, see rows.lines;
//   - else nobody has it open, and SQLite takes the files for ones that never change, which holds
//     as their stamps are the same behind that. To read a -wal alone it would make a -shm, so it
//     gets a file system in which it cannot, and has the index of the -wal in memory.
func read(ctx context.Context, path string, do func(rows) error) error {
	err := errChanging
	for n := 0; n < tries && passes(err); n++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(n) * 30 * time.Millisecond):
		}
		err = readOnce(ctx, real(path), do)
	}
	if _, named := errors.AsType[*fs.PathError](err); err != nil && !named && ctx.Err() == nil {
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

// isWal reports whether a -wal may have pages. Of another file SQLite takes none, but looks for
// them again and again for ten seconds where there is a -shm.
func isWal(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // which SQLite tells
	}
	defer f.Close()
	var head [3]uint32
	err = binary.Read(f, binary.BigEndian, &head)
	return err == nil && head[0]|1 == 0x377f0683 && bits.OnesCount32(head[2]) == 1 && head[2] >= 512 && head[2] <= 65536
}

func readOnce(ctx context.Context, path string, do func(rows) error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case reading <- struct{}{}:
		defer func() { <-reading }()
	}
	was, err := stampsOf(path)
	wal := was[0].Size > 0 && was[1].Size > 0 && isWal(path+suffixes[1]) // beside an empty database SQLite removes it
	switch {
	case err != nil:
		return err
	case was[3].Size > 0:
		return errJournal
	case wal && was[2] != vfs.Stamp{}:
		return query(ctx, path, "mode=ro&readonly_shm=1", opened(do))
	case unsettled(time.Now(), was[0].Mtime) || unsettled(time.Now(), was[1].Mtime):
		return errChanging
	case wal:
		name, system, failed := readonly.New(os.DirFS(filepath.Dir(path)))
		if failed != nil {
			return failed
		}
		err = query(ctx, filepath.Base(path), "vfs="+name+"&_pragma=locking_mode(exclusive)&_pragma=temp_store(memory)", opened(do))
		err = errors.Join(err, system.Close())
	default:
		err = query(ctx, path, "mode=ro&immutable=1", do)
	}
	now, failed := stampsOf(path)
	if failed == nil && !(was[0].SameContent(now[0]) && was[1].SameContent(now[1])) {
		return errChanging
	}
	return errors.Join(err, failed)
}

// opened returns do for a database that SQLite opened with its -wal. Without one, readers keep
// writers out.
func opened(do func(rows) error) func(rows) error {
	return func(r rows) error {
		mode := ""
		if err := r.db.QueryRowContext(r.ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" {
			return errChanging
		}
		return do(r)
	}
}

// query opens a database and calls do with it.
func query(ctx context.Context, path, how string, do func(rows) error) error {
	abs := filepath.IsAbs(path)
	if path = filepath.ToSlash(path); abs && path[0] != '/' { // as C:/…
		path = "/" + path
	}
	name := url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: how + "&_pragma=busy_timeout(2000)&_pragma=query_only(1)"}
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
