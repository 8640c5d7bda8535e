package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/amplifier-go/sessionstorage/internal/vfs"
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
	w = meteredWriter{contextWriter{ctx, w}, m}
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
// keeps its mode and its owner; else a new one appears whole, which only its owner may read.
// After an error the former file stands there, or none. When the error Is
// [sessionstore.ErrCorrupt] and there was none, there is one with what could be read. A
// symlink stays, and the file that it leads to is written. A FIFO, a device and the standard
// output are written straight. The error Is fs.ErrExist for a file below the store's directory.
func WriteFile(ctx context.Context, name string, st *sessionstore.Store, ids []string, opts *WriteOptions) error {
	damage := error(nil)
	_, err := os.Stat(name)
	missing := errors.Is(err, fs.ErrNotExist)
	err = vfs.WriteNamed(ctx, name, st.Dir(), func(w io.Writer) error {
		err := Write(ctx, w, st, ids, opts)
		if missing && errors.Is(err, sessionstore.ErrCorrupt) {
			damage, err = err, nil
		}
		return err
	})
	return errors.Join(err, damage)
}
