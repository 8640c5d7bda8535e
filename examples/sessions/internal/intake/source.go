package intake

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// File is a file of a session that is brought in. Its content can be read until
// the next one is asked for.
type File struct {
	Path     string // in the session's directory, with slashes
	Modified time.Time
	Content  io.Reader
}

// A Source is where a session comes from. Its files can be read once; an error
// ends them.
type Source struct {
	ID    string // that it had; "": not known
	Lines bool   // it is the lines of a transcript, in one file without a path
	Files iter.Seq2[File, error]
}

// Directory returns the source of the session's directory dir.
func Directory(dir string) Source {
	return Source{ID: filepath.Base(dir), Files: func(yield func(File, error) bool) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			yield(File{}, err)
			return
		}
		defer root.Close()
		err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case path == ".":
				return nil
			case e.IsDir() && strings.HasPrefix(e.Name(), "."):
				return fs.SkipDir
			case e.IsDir():
				return nil
			case !e.Type().IsRegular():
				return fmt.Errorf("%s is no regular file", path)
			}
			return one(root, path, yield)
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(File{}, err)
		}
	}}
}

// errStopped tells that no more files are wanted.
var errStopped = errors.New("stopped")

func one(root *os.Root, path string, yield func(File, error) bool) (err error) {
	f, err := root.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !yield(File{path, fi.ModTime(), f}, nil) {
		return errStopped
	}
	return nil
}

// ErrUnknown tells that a stream is nothing that a session can be made of.
var ErrUnknown = errors.New("neither an archive nor lines of a transcript")

// Stream returns the source of a stream: a tar archive, also compressed by
// gzip, or the lines of a transcript.
func Stream(r io.Reader) (Source, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return Source{}, fmt.Errorf("read archive: %w", err)
		}
		in = bufio.NewReaderSize(unzipped, 64<<10)
	}
	if head, _ := in.Peek(512); len(head) == 512 && bytes.HasPrefix(head[257:], []byte("ustar")) {
		return archive(&archiveReader{end: &ending{in: in}})
	}
	first, err := in.Peek(1)
	for ; err == nil && strings.ContainsRune(" \t\r\n", rune(first[0])); first, err = in.Peek(1) {
		if _, err := in.Discard(1); err != nil {
			return Source{}, err
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return Source{}, err
	}
	if err == nil && first[0] != '{' {
		return Source{}, ErrUnknown
	}
	return Source{Lines: true, Files: func(yield func(File, error) bool) {
		yield(File{Content: in}, nil)
	}}, nil
}

// archive returns the source of an archive, whose entries are below one
// directory that is named as the session is.
func archive(in *archiveReader) (Source, error) {
	in.Reader = tar.NewReader(in.end)
	first, file, err := nextFile(in)
	if err != nil {
		return Source{}, err
	}
	return Source{ID: first, Files: func(yield func(File, error) bool) {
		for top := first; ; {
			if top != first {
				yield(File{}, fmt.Errorf("read archive: it holds more than one directory, %q and %q", first, top))
				return
			}
			if !yield(file, nil) {
				return
			}
			var err error
			top, file, err = nextFile(in)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(File{}, err)
				return
			}
		}
	}}, nil
}

// archiveReader is a [tar.Reader] that knows whether the archive is whole.
type archiveReader struct {
	*tar.Reader
	end *ending
}

var errCutOff = errors.New("it is cut off")

// ending keeps the last bytes that were read: an archive ends in two blocks of
// zeros, without which a tar.Reader takes it for whole too.
type ending struct {
	in   io.Reader
	last []byte
}

const twoBlocks = 1024

func (e *ending) Read(b []byte) (int, error) {
	n, err := e.in.Read(b)
	e.last = append(e.last, b[max(0, n-twoBlocks):n]...)
	e.last = e.last[max(0, len(e.last)-twoBlocks):]
	return n, err
}

func (e *ending) whole() bool {
	return len(e.last) == twoBlocks && len(bytes.Trim(e.last, "\x00")) == 0
}

// nextFile returns the next file and the directory at the top of its path. The
// error is io.EOF at the end.
func nextFile(in *archiveReader) (top string, f File, err error) {
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) && !in.end.whole() {
			err = errCutOff
		}
		if errors.Is(err, io.EOF) {
			return "", File{}, err
		}
		if err != nil {
			return "", File{}, fmt.Errorf("read archive: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
		default:
			return "", File{}, fmt.Errorf("read archive: %q is no regular file", h.Name)
		}
		top, rest, ok := strings.Cut(strings.TrimPrefix(h.Name, "./"), "/")
		if !ok || top == "" || rest == "" {
			return "", File{}, fmt.Errorf("read archive: %q is in no directory", h.Name)
		}
		if hidden(rest) {
			continue
		}
		return top, File{rest, h.ModTime, in}, nil
	}
}

// hidden reports whether a part of a path begins with a dot: such files belong
// to writers. Those that lead upwards do not count.
func hidden(name string) bool {
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if strings.HasPrefix(part, ".") && part != ".." {
			return true
		}
	}
	return false
}
