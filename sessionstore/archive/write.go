package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/internal/atomicfile"
	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Write writes the sessions ids of st to w, in the given order and each once.
// All formats but [Tar] hold exactly one session; the error for another number
// Is [ErrOneSession].
//
// A damaged session is written as far as it can be read, and then the error Is
// [sessionstore.ErrCorrupt]; a tar archive has the damaged files as they are,
// without an error. After any other error, what was written is no whole archive.
func Write(ctx context.Context, w io.Writer, st *sessionstore.Store, ids []string, opts *WriteOptions) error {
	var o WriteOptions
	if opts != nil {
		o = *opts
	}
	m := &meter{tell: o.Progress}
	w = meteredWriter{w, m}
	if o.Format == "" || o.Format == Tar {
		return writeTar(ctx, w, st, ids, o.Redact, m)
	}
	if len(ids) != 1 {
		return fmt.Errorf("write %s: %w", o.Format, ErrOneSession)
	}
	var err error
	switch o.Format {
	case JSONL:
		err = writeLines(ctx, w, st, ids[0], o.Redact)
	case Markdown, HTML:
		err = writeDocument(ctx, w, st, ids[0], &o)
	default:
		return fmt.Errorf("unknown format %q", o.Format)
	}
	if err == nil {
		m.session()
	}
	return err
}

func writeDocument(ctx context.Context, w io.Writer, st *sessionstore.Store, id string, o *WriteOptions) error {
	s, damage := st.Load(ctx, id)
	if damage != nil && !errors.Is(damage, sessionstore.ErrCorrupt) {
		return damage
	}
	d, err := newDocument(s, damage, o)
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
	if err != nil {
		return err
	}
	return damage
}

// WriteFile is [Write] to the new file name, which only its owner may read. The
// file appears whole and durably, or not at all; when the error Is
// [sessionstore.ErrCorrupt], it is there with what could be read. The error Is
// fs.ErrExist when there is something of that name.
func WriteFile(ctx context.Context, name string, st *sessionstore.Store, ids []string, opts *WriteOptions) (err error) {
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	dir := atomicfile.New(root, nil)
	defer func() { err = errors.Join(err, dir.Close()) }()
	damage := error(nil)
	err = dir.Replace(filepath.Base(name), true, core.Of(st).Now(), func(w io.Writer) error {
		err := Write(ctx, w, st, ids, opts)
		if errors.Is(err, sessionstore.ErrCorrupt) {
			damage, err = err, nil
		}
		return err
	})
	if err == nil {
		err = dir.Sync()
	}
	return errors.Join(err, damage)
}
