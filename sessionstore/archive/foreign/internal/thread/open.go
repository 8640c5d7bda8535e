package thread

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
)

// OpenPlain opens the current bytes of a file for reading, also of a compressed one.
func OpenPlain(ctx context.Context, path string) (r io.ReaderAt, size int64, leave func(), err error) {
	f, fi, err := OpenRegular(path)
	if err != nil {
		return nil, 0, nil, err
	}
	shut := func() { _ = f.Close() } // it was only read
	if strings.HasSuffix(path, PackedSuffix) {
		p, err := newPacked(ctx, f)
		if err != nil {
			shut()
			return nil, 0, nil, err
		}
		return p, p.size, func() { p.close(); shut() }, nil
	}
	return f, fi.Size(), shut, nil
}

// OpenRegular opens a file for reading. It never waits: a file that is not regular, such as
// a named pipe, is an error.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		var failed *fs.PathError
		if !errors.As(err, &failed) { // links in a circle
			err = &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return nil, nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(real))
	if err != nil {
		return nil, nil, err
	}
	f, fi, err := openIn(root, filepath.Base(real), path)
	return f, fi, errors.Join(err, root.Close())
}

// openIn opens a file of a directory. The error names it by its path.
func openIn(root *os.Root, name, path string) (*os.File, fs.FileInfo, error) {
	f, fi, err := vfs.Open(root, name, os.O_RDONLY)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		failed.Path = path
	}
	return f, fi, err
}

// Folder opens files of a directory, one after the other. The zero Folder has opened none.
type Folder struct {
	root *os.Root
	path string
}

// Open is [OpenRegular] for the entry of a directory. It opens the directory once for all of
// them.
func (d *Folder) Open(path string, e fs.DirEntry) (*os.File, fs.FileInfo, error) {
	if !e.Type().IsRegular() { // a symlink may lead out of the directory
		return OpenRegular(path)
	}
	if dir := filepath.Dir(path); d.root == nil || dir != d.path {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, nil, err
		}
		d.Close()
		d.root, d.path = root, dir
	}
	return openIn(d.root, filepath.Base(path), path)
}

// Close closes the directory.
func (d *Folder) Close() {
	if d.root != nil {
		_ = d.root.Close() // it was only read
	}
}

// Mode returns the type of an entry of a directory, or of the file that a link leads to.
func Mode(path string, e fs.DirEntry) (fs.FileMode, error) {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.Type(), nil
	}
	fi, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return fi.Mode(), nil
}

// Entries calls take for each entry of a directory, in their order. The error names what could not be
// read or taken; there is none where the directory is not there.
func Entries(ctx context.Context, dir string, take func(path string, e fs.DirEntry) error) error {
	entries, failed := os.ReadDir(dir)
	if errors.Is(failed, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return errors.Join(failed, ctx.Err())
		}
		failed = errors.Join(failed, take(filepath.Join(dir, e.Name()), e))
	}
	return failed
}

// Below calls take for each entry below a directory that is no directory, in the order of their
// paths. The error names what could not be read or taken; there is none where the directory is
// not there.
func Below(ctx context.Context, dir string, take func(open *Folder, path string, e fs.DirEntry) error) (failed error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	var open Folder
	defer open.Close()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, err)
			if ctx.Err() != nil {
				return fs.SkipAll
			}
			return nil
		}
		if !e.IsDir() {
			err = take(&open, path, e)
		}
		if err == nil {
			return nil
		}
		if _, named := errors.AsType[*fs.PathError](err); !named {
			err = fmt.Errorf("%s: %w", path, err)
		}
		failed = errors.Join(failed, err)
		return nil
	})
	return errors.Join(failed, err)
}

const (
	// PackedSuffix ends the name of a compressed file.
	PackedSuffix = ".zst"

	// maxWindow is how much memory a compressed file may ask for, in bytes.
	maxWindow = 8 << 20

	// keepBehind is how far back packed reads without beginning anew, in bytes.
	keepBehind = 1 << 20
)

// packed reads a compressed file at any place. It goes forward as it unpacks, and
// begins anew for a place that it left far behind. It is not safe for concurrent
// use.
type packed struct {
	ctx  context.Context
	f    *os.File
	z    *zstd.Decoder
	size int64  // of the unpacked file
	torn error  // what is wrong with its end; nil: nothing
	buf  []byte // the bytes that were unpacked last
	at   int64  // where buf begins
}

// Why a compressed file is not whole.
var (
	errTorn  = errors.New("its end is missing; what can be read of it is imported")
	errEmpty = errors.New("it is empty, which no compressed file is")
)

// newPacked reads f once to learn its size. A file whose end is missing is read as far as
// it goes, like a file that is still being written.
func newPacked(ctx context.Context, f *os.File) (*packed, error) {
	p := &packed{ctx: ctx, f: f}
	z, err := NewDecoder(nil)
	if err != nil {
		return nil, err
	}
	p.z = z
	if err := p.restart(); err != nil {
		p.close()
		return nil, err
	}
	p.size, err = io.Copy(contextWriter{ctx, io.Discard}, p.z)
	if fi, failed := f.Stat(); err == nil && failed == nil && fi.Size() == 0 {
		p.torn = errEmpty
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		p.torn, err = errTorn, nil
	}
	if err == nil {
		err = p.restart()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *packed) close() { p.z.Close() }

func (p *packed) restart() error {
	p.buf, p.at = p.buf[:0], 0
	return p.z.Reset(io.NewSectionReader(p.f, 0, 1<<62))
}

// ReadAt is the method of io.ReaderAt.
func (p *packed) ReadAt(b []byte, offset int64) (int, error) {
	if offset < p.at {
		if err := p.restart(); err != nil {
			return 0, err
		}
	}
	end := min(offset+int64(len(b)), p.size)
	for p.at+int64(len(p.buf)) < end {
		if err := p.more(offset - keepBehind); err != nil {
			return 0, err
		}
	}
	n := 0
	if offset < end {
		n = copy(b, p.buf[offset-p.at:])
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// more unpacks a piece, and forgets the bytes before from.
func (p *packed) more(from int64) error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	if old := min(from-p.at, int64(len(p.buf))); old >= keepBehind {
		p.buf = append(p.buf[:0], p.buf[old:]...)
		p.at += old
	}
	n := len(p.buf)
	p.buf = append(p.buf, make([]byte, 64<<10)...)
	k, err := p.z.Read(p.buf[n:])
	p.buf = p.buf[:n+k]
	if k > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrChanged
	}
	return err
}

// WriterUntil returns a writer that fails when the context is done.
func WriterUntil(ctx context.Context, w io.Writer) io.Writer { return contextWriter{ctx, w} }

type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

// PlainReader reads the content of a file, also of a compressed one.
func PlainReader(f *os.File) (r io.Reader, leave func(), err error) {
	if !strings.HasSuffix(f.Name(), PackedSuffix) {
		return f, func() {}, nil
	}
	z, err := NewDecoder(f)
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// NewDecoder returns a decoder that takes little memory.
func NewDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}
