package archive

import (
	"archive/tar"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/internal/disk/ownership"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Write writes the sessions ids of st to w, in the given order and each once.
// All formats but [Tar] hold exactly one session; the error for another number
// Is [ErrOneSession].
//
// Each file of a session that stays on this machine, see [Kept], has a mark in a tar archive.
// Redaction does not end that.
//
// A damaged session is written as far as it can be read, and then the error Is
// [sessionstore.ErrCorrupt]; a tar archive has the damaged files as they are, without an
// error. After any other error the output is not a whole archive.
func Write(ctx context.Context, w io.Writer, st *sessionstore.Store, ids []string, opts *WriteOptions) error {
	var o WriteOptions
	if opts != nil {
		o = *opts
	}
	w = contextWriter{ctx, w}
	if o.Format == "" || o.Format == Tar {
		return writeTar(ctx, w, st, ids, o.Redact)
	}
	if len(ids) != 1 {
		return fmt.Errorf("write %s: %w", o.Format, ErrOneSession)
	}
	switch o.Format {
	case JSONL:
		return writeLines(ctx, w, st, ids[0], o.Redact)
	case Markdown, HTML:
		return writeDocument(ctx, w, st, ids[0], &o)
	}
	return fmt.Errorf("unknown format %q", o.Format)
}

func writeDocument(ctx context.Context, w io.Writer, st *sessionstore.Store, id string, o *WriteOptions) error {
	s, damage := st.Load(ctx, id)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return damage
	}
	d, err := newDocument(ctx, s, damage, o)
	if err != nil {
		return err
	}
	if !o.NoWorkflow {
		broken := error(nil)
		d.work, broken = openWork(ctx, st, id, o.Redact)
		if d.work == nil {
			return broken
		}
		if broken != nil {
			d.Notes = append(d.Notes, "The records of the workflow are damaged; this is what could be read.")
			damage = errors.Join(damage, broken)
		}
	}
	if o.Format == HTML {
		err = d.html(ctx, w)
	} else {
		err = d.markdown(ctx, w)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil { // which ends the messages, too
		return err
	}
	return damage
}

// WriteFile is [Write] to the file name. A regular file is replaced whole and durably, and
// keeps its mode and its owner; else a new one appears whole, which only its owner may
// read. After an error the former file is unchanged, and a missing file is still missing.
// Only when the error Is [sessionstore.ErrCorrupt] and the file was missing, there is a
// file with all that could be read. A symlink stays, and the file that it leads to is
// written. A FIFO, a device and the standard output are written straight. The error Is
// fs.ErrExist for a file below the store's directory.
//
// The images of [Markdown] are written first, into a folder beside the file: for talk.md the
// folder is talk.images. It is made with the first image. Nothing there is followed, and of its
// files only images are replaced that the former talk.md shows. The error Is fs.ErrExist, and
// names the entry, where a symlink, something that is no regular file, another user's folder, or
// another file has the name of the folder or of an image.
func WriteFile(ctx context.Context, name string, st *sessionstore.Store, ids []string, opts *WriteOptions) (err error) {
	damage := error(nil)
	was, err := os.Stat(name)
	missing := errors.Is(err, fs.ErrNotExist)
	stdout, _ := os.Stdout.Stat()
	if opts != nil && opts.Format == Markdown && (missing || err == nil && was.Mode().IsRegular() && !os.SameFile(was, stdout)) {
		beside := &images{name: name, store: st.Dir()}
		defer func() { err = errors.Join(err, beside.close()) }()
		o := *opts
		o.writeImage = beside.write
		opts = &o
	}
	err = vfs.WriteNamed(ctx, name, st.Dir(), func(w io.Writer) error {
		err := Write(ctx, w, st, ids, opts)
		if missing && errors.Is(err, sessionstore.ErrCorrupt) {
			damage, err = err, nil
		}
		return err
	})
	return errors.Join(err, damage)
}

// writeTar writes all files of sessions as a tar archive, each session below a
// directory of its id.
func writeTar(ctx context.Context, w io.Writer, st *sessionstore.Store, ids []string, r Redactor) error {
	out := tar.NewWriter(w)
	for i, id := range ids {
		if slices.Contains(ids[:i], id) {
			continue
		}
		if err := addSession(ctx, out, st, id, r); err != nil {
			return err
		}
	}
	return out.Close()
}

func addSession(ctx context.Context, out *tar.Writer, st *sessionstore.Store, id string, r Redactor) (err error) {
	if !st.Exists(id) {
		return limits.Errorf(sessionstore.ErrNotFound, "there is no session %q", limits.ID(id))
	}
	root, err := os.OpenRoot(filepath.Join(st.Dir(), id))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	kept := map[string]string(nil)
	if Kept(ctx, st, id) {
		kept = map[string]string{keptRecord: "1"}
	}
	names, err := archived(root, r != nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := add(ctx, out, root, name, id, r, kept); err != nil {
			return fmt.Errorf("archive %s: %w", name.to, err)
		}
	}
	return nil
}

// tarName is the path of a file in the session and in the archive.
type tarName struct{ from, to string }

// archived returns the files of a session that are archived. While the session has the
// marker of an append, the backup is the transcript.
func archived(root *os.Root, redacted bool) (found []tarName, err error) {
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
			redacted && isFormerState(name), appending && path == sessiondir.Transcript:
			return nil
		}
		to := path
		if appending && path == sessiondir.Backup(sessiondir.Transcript) {
			to = sessiondir.Transcript
		}
		found = append(found, tarName{path, to})
		return nil
	})
	if appending && redacted {
		found = append(found, tarName{sessiondir.Backup(sessiondir.Transcript), sessiondir.Transcript})
	}
	slices.SortFunc(found, func(a, b tarName) int { return strings.Compare(a.to, b.to) })
	return found, err
}

// isFormerState reports whether a file of that name is a former state of another file.
func isFormerState(name string) bool {
	return strings.HasSuffix(name, ".backup") || strings.Contains(name, ".bak-") || strings.Contains(name, ".damaged-")
}

// add adds one file, with the PAX records.
func add(ctx context.Context, out *tar.Writer, root *os.Root, name tarName, id string, r Redactor, records map[string]string) (err error) {
	f, fi, err := vfs.Open(root, name.from, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was removed in between
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// Bytes that a writer appends from now on are not read.
	whole := func() io.Reader { return contextReader{ctx, io.NewSectionReader(f, 0, fi.Size())} }
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
		ModTime: fi.ModTime(), Format: tar.FormatPAX, PAXRecords: records,
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
