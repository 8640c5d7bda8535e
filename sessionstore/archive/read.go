package archive

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Read makes sessions in st from r: a tar archive, which gzip may have compressed, or the
// lines of one transcript. Each session appears whole, and durably if the store promises
// that, or not at all.
//
// From a tar archive, files keep their bytes and times, damaged ones too, but for approvals,
// which do not count here, and with another id or name for the metadata. Lines must all be
// messages: JSON objects with a role. The error for another line is a
// [*LineError]. The session gets metadata of a new one.
//
// A session with the mark of one that stays on its machine, see [Kept], stays on this one, too:
// package hybrid does not send it until it is released. That is durable before the session
// appears; where it cannot be recorded, the session is not made.
//
// Read returns the sessions that were made, beside an error as well: the sessions of an
// archive are made one after the other. The error Is fs.ErrExist when the store has a
// session of the same id already. When the archive is refused, it Is one of the errors of
// this package.
func Read(ctx context.Context, r io.Reader, st *sessionstore.Store, opts *ReadOptions) ([]Imported, error) {
	im := newImporter(st, opts)
	in, err := unzipped(contextReader{ctx, r}, im.max)
	if err != nil {
		return nil, err
	}
	if isTar(in) {
		err := im.sessions(ctx, newTarball(in, im.max))
		return im.done, err
	}
	blank, err := seekObject(in)
	if err != nil {
		return nil, err
	}
	limit := byteLimit{most: im.max.bytes}
	x := newExtraction(im, "")
	err = x.run(ctx, func() error { return x.transcript(ctx, limit.reader(in), blank) })
	return im.done, err
}

// ReadDir makes a session in st of the session's directory dir, as [Read] does of
// an archive. The directory may be one of another store: whether the session stays on its
// machine is asked there.
func ReadDir(ctx context.Context, dir string, st *sessionstore.Store, opts *ReadOptions) (Imported, error) {
	im := newImporter(st, opts)
	path, err := sessiondir.Abs(dir)
	if err != nil {
		return Imported{}, err
	}
	src, err := openDirectory(path, im.max.bytes)
	if err == nil {
		src.kept = keptSource(ctx, path)
		err = errors.Join(im.sessions(ctx, src), src.Close())
	}
	if len(im.done) == 0 {
		return Imported{}, err
	}
	return im.done[0], err
}

// mark is the byte order mark that an editor may put before a file.
const mark = "\ufeff"

// seekObject passes over white space and byte order marks, and returns the number of line breaks in
// it. The error Is ErrFormat when something other than a JSON object follows.
func seekObject(in *bufio.Reader) (blank int, err error) {
	for {
		c, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return blank, nil
		case err != nil:
			return blank, err
		case c == '{':
			return blank, in.UnreadByte()
		case c == '\n':
			blank++
		case c == mark[0]:
			if rest, _ := in.Peek(2); string(rest) != mark[1:] {
				return blank, ErrFormat
			}
			_, _ = in.Discard(2)
		case c != ' ' && c != '\t' && c != '\r':
			return blank, ErrFormat
		}
	}
}

// sessions makes all sessions of a source.
func (im *importer) sessions(ctx context.Context, src source) error {
	f, err := src.next()
	for err == nil {
		f, err = im.session(ctx, src, f)
	}
	if errors.Is(err, io.EOF) {
		if len(im.done) > 0 {
			return nil
		}
		err = ErrNoSession
	}
	return err
}

// session makes the session that the file first begins, and returns the first
// file of the next one. The error is io.EOF when there is none.
func (im *importer) session(ctx context.Context, src source, first file) (file, error) {
	x := newExtraction(im, first.session)
	var f file
	var end error
	err := x.run(ctx, func() error {
		f, end = first, nil
		for end == nil && f.session == first.session {
			x.result.Kept = x.result.Kept || f.kept
			if err := errors.Join(ctx.Err(), x.file(f)); err != nil {
				return err
			}
			f, end = src.next()
		}
		if end != nil && !errors.Is(end, io.EOF) {
			return end
		}
		if end == nil {
			if err := im.checkNext(f); err != nil {
				return err
			}
		}
		if err := x.complete(); err != nil {
			return err
		}
		return x.keep(ctx)
	})
	if err != nil {
		return file{}, err
	}
	return f, end
}

// checkNext checks that a further session may begin with f.
func (im *importer) checkNext(f file) error {
	if im.max.sessions >= 0 && len(im.done)+1 >= im.max.sessions {
		return readError(limitError("sessions", int64(im.max.sessions)))
	}
	if im.started[f.session] {
		return readError(entryError(f.session, ErrTwice))
	}
	return nil
}

// maxDepth is the largest number of directories above a file.
const maxDepth = 64

// file writes one file of the session.
func (x *extraction) file(f file) error {
	if f.path == ownership.FenceName || f.path == sessiondir.Marker || hidden(f.path) {
		return nil
	}
	if !filepath.IsLocal(filepath.FromSlash(f.path)) || strings.ContainsAny(f.path, "\\\x00") || path.Clean(f.path) != f.path || strings.Count(f.path, "/") > maxDepth {
		return entryError(f.path, ErrPath)
	}
	if x.seen[f.path] {
		return entryError(f.path, ErrTwice)
	}
	x.seen[f.path] = true
	if err := x.edit(&f); err != nil {
		return err
	}
	dir, leave, err := x.directory(path.Dir(f.path))
	if err != nil {
		return err
	}
	err = dir.Replace(path.Base(f.path), x.core.Syncs(), f.modified, func(w io.Writer) error {
		n, err := io.Copy(w, f.content)
		x.result.Bytes += n
		return err
	})
	if err == nil && x.core.Syncs() {
		err = dir.Sync()
	}
	if err = errors.Join(err, leave()); err != nil {
		return err
	}
	x.wrote(f.path)
	return nil
}

// directory opens a directory below the session's directory, and makes it where it is
// missing.
func (x *extraction) directory(name string) (dir *vfs.Dir, leave func() error, err error) {
	dir = x.tx.Dir().Dir
	leave = func() error { return nil }
	if name == "." {
		return dir, leave, nil
	}
	for part := range strings.SplitSeq(name, "/") {
		err := dir.Mkdir(part)
		switch {
		case errors.Is(err, fs.ErrExist):
			err = nil
		case err == nil && x.core.Syncs():
			err = dir.Sync()
		}
		if err != nil {
			return nil, nil, errors.Join(err, leave())
		}
		root, err := dir.Root().OpenRoot(part)
		if err = errors.Join(err, leave()); err != nil {
			return nil, nil, err
		}
		dir = dir.At(root)
		leave = dir.Close
	}
	return dir, leave, nil
}
