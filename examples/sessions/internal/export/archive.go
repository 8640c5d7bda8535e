package export

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/ownership"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Archive writes all files of session id as a tar archive, below a directory
// of that name, with their times. It takes no lock: each file is whole, as it
// was at one instant, but the log may be a moment ahead of the transcript.
//
// With r all lines are redacted, and no file is taken that is a former state
// of another one. Left out is what belongs to writers: temporary files, locks,
// and the marks of an append and of a transfer.
func Archive(ctx context.Context, st *sessionstore.Store, id string, w io.Writer, r Redactor) (err error) {
	if !st.Exists(id) {
		return fmt.Errorf("session %q: %w", id, sessionstore.ErrNotFound)
	}
	root, err := os.OpenRoot(filepath.Join(st.Dir(), id))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	names, err := archived(root, r != nil)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := add(out, root, name, id, r); err != nil {
			return fmt.Errorf("archive %s: %w", name.to, err)
		}
	}
	return out.Close()
}

// entry is a file and the path that it has in the archive.
type entry struct{ from, to string }

// archived returns the files of an archive. While an append is marked, only
// the backup is the transcript.
func archived(root *os.Root, redacted bool) (found []entry, err error) {
	_, err = root.Lstat(sessiondir.Marker)
	appending := err == nil
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case path == ".", e.IsDir() && !strings.HasPrefix(name, "."):
			return nil
		case e.IsDir():
			return fs.SkipDir
		case !e.Type().IsRegular(), strings.HasPrefix(name, "."),
			path == ownership.FenceName, path == sessiondir.Marker,
			redacted && former(name), appending && path == sessiondir.Transcript:
			return nil
		}
		to := path
		if appending && path == sessiondir.Backup(sessiondir.Transcript) {
			to = sessiondir.Transcript
		}
		found = append(found, entry{path, to})
		return nil
	})
	if appending && redacted {
		found = append(found, entry{sessiondir.Backup(sessiondir.Transcript), sessiondir.Transcript})
	}
	slices.SortFunc(found, func(a, b entry) int { return strings.Compare(a.to, b.to) })
	return found, err
}

// former reports whether a file of that name is a former state of another one.
func former(name string) bool {
	return strings.HasSuffix(name, ".backup") || strings.Contains(name, ".bak-") || strings.Contains(name, ".damaged-")
}

// add adds one file.
func add(out *tar.Writer, root *os.Root, name entry, id string, r Redactor) (err error) {
	f, err := root.Open(name.from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was removed since
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return sessiondir.ErrNotRegular
	}
	// What a writer adds to the file from now on is not read.
	whole := func() io.Reader { return io.NewSectionReader(f, 0, fi.Size()) }
	copied := func(w io.Writer) error {
		_, err := io.CopyN(w, whole(), fi.Size())
		return err
	}
	size := fi.Size()
	if r != nil {
		copied = func(w io.Writer) error { return redactTo(w, whole(), r) }
		var n counter
		if err := copied(&n); err != nil {
			return err
		}
		size = int64(n)
	}
	err = out.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: id + "/" + name.to, Size: size, Mode: 0o600,
		ModTime: fi.ModTime(), Format: tar.FormatPAX,
	})
	if err != nil {
		return err
	}
	return copied(out)
}

type counter int64

func (n *counter) Write(b []byte) (int, error) {
	*n += counter(len(b))
	return len(b), nil
}

// redactTo writes what src has with r applied to its lines, one of which is in
// memory at a time.
func redactTo(w io.Writer, src io.Reader, r Redactor) error {
	in := bufio.NewReader(src)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := w.Write(redactLines(line, r)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
