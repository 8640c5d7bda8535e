package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path"
	"strings"
)

const bufferSize = 64 << 10

// gzipMagic begins what gzip compressed.
var gzipMagic = []byte{0x1f, 0x8b}

// unzipped returns r, decompressed where gzip compressed it.
func unzipped(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, bufferSize)
	if magic, _ := in.Peek(len(gzipMagic)); !bytes.Equal(magic, gzipMagic) {
		return in, nil
	}
	plain, err := gzip.NewReader(in)
	if err != nil {
		return nil, readError(err)
	}
	return bufio.NewReaderSize(plain, bufferSize), nil
}

// isTar reports whether a tar archive begins here.
func isTar(in *bufio.Reader) bool {
	const block, magic = 512, 257
	head, _ := in.Peek(block)
	return len(head) == block && bytes.HasPrefix(head[magic:], []byte("ustar"))
}

// tarball is the source of a tar archive. Each of its entries is below a
// directory that is named as the session is.
type tarball struct {
	in      *tar.Reader
	end     *ending
	max     limits
	entries int
	bytes   int64 // that the headers state
}

func newTarball(in io.Reader, max limits) *tarball {
	end := &ending{in: in}
	return &tarball{in: tar.NewReader(end), end: end, max: max}
}

func (t *tarball) next() (file, error) {
	for {
		h, err := t.header()
		if err != nil {
			return file{}, err
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
		default:
			return file{}, readError(&EntryError{h.Name, ErrNotRegular})
		}
		id, rest, ok := strings.Cut(strings.TrimPrefix(h.Name, "./"), "/")
		if !ok || id == "" || rest == "" {
			return file{}, readError(&EntryError{h.Name, errNoDirectory})
		}
		if hidden(rest) {
			continue
		}
		return file{id, rest, h.ModTime, t.in}, nil
	}
}

// errNoDirectory tells that a name is absolute or has no directory.
var errNoDirectory = &pathError{"in no directory of a session"}

// pathError is an ErrPath in other words.
type pathError struct{ text string }

func (e *pathError) Error() string        { return e.text }
func (e *pathError) Is(target error) bool { return target == ErrPath }

// header returns the header of the next entry, within the limits. At the end it
// checks that the archive is whole; the error is io.EOF then.
func (t *tarball) header() (*tar.Header, error) {
	h, err := t.in.Next()
	if errors.Is(err, io.EOF) {
		err = t.end.check()
	}
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		return nil, readError(err)
	}
	if t.entries++; t.max.entries >= 0 && t.entries > t.max.entries {
		return nil, readError(&LimitError{"entries", int64(t.max.entries)})
	}
	if t.max.bytes >= 0 && h.Size > t.max.bytes-t.bytes {
		return nil, readError(&LimitError{"bytes", t.max.bytes})
	}
	t.bytes += h.Size
	return h, nil
}

// ending keeps the last bytes that were read. An archive ends in two blocks of
// zeros; a tar.Reader takes one without them for whole, too.
type ending struct {
	in   io.Reader
	last []byte
}

const twoBlocks = 1024

func (e *ending) Read(b []byte) (int, error) {
	n, err := e.in.Read(b)
	got := b[max(0, n-twoBlocks):n]
	if over := len(e.last) + len(got) - twoBlocks; over > 0 {
		e.last = e.last[:copy(e.last, e.last[over:])]
	}
	e.last = append(e.last, got...)
	return n, err
}

// maxPadding is the largest number of bytes behind the end of an archive.
const maxPadding = 1 << 20

var errGoesOn = errors.New("it goes on behind its end")

// check returns io.EOF when the archive is whole. It reads the padding, and with
// it the checksum of gzip.
func (e *ending) check() error {
	if len(e.last) != twoBlocks || len(bytes.Trim(e.last, "\x00")) > 0 {
		return ErrTruncated
	}
	_, err := io.CopyN(io.Discard, e.in, maxPadding)
	if err == nil {
		err = errGoesOn
	}
	return err
}

// hidden reports whether a part of a path begins with a dot: such files belong
// to writers. A part that leads upwards does not count; it is refused later.
func hidden(name string) bool {
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if strings.HasPrefix(part, ".") && part != ".." {
			return true
		}
	}
	return false
}
