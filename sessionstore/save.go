package sessionstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/pytime"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Save makes transcript and md the state of the session, which is made when
// there is none. The file that stood there becomes its backup.
//
// Messages with role system or developer are not stored. Of metadata, members
// that only the disk has stay ([Store.UpdateMetadata] removes them), and the
// disk decides name, description and what belongs to them; values of secret
// keys are stored as "[REDACTED]". A new session's metadata gets what it
// lacks of session_id, created, bundle, model, turn_count and working_dir.
//
// The last writer wins; what it replaced stands in the backup. A damaged file
// is kept aside as <name>.damaged-<time of its last change> and never becomes
// a backup. ctx is honoured until the first file changes its name. After an
// error either state may stand, whole.
func (st *Store) Save(ctx context.Context, id string, transcript []Message, md Metadata) error {
	rows, err := storable(transcript)
	if err != nil {
		return wrap("save", id, err)
	}
	return st.write(ctx, "save", id, func(w *writing) error {
		meta := st.readMetadata(w.dir, id)
		if w.born {
			md = st.born(id, md, rows)
		}
		if meta.damage == nil {
			md = merge(meta.md, md)
		}
		content, err := md.file(st.opts.Portable)
		if err != nil {
			return fmt.Errorf("encode metadata: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.replaceTranscript(rows, meta.md); err != nil {
			return err
		}
		return w.replaceMetadata(&meta, content)
	})
}

// storable returns the messages that are stored.
func storable(transcript []Message) ([]Message, error) {
	rows := make([]Message, 0, len(transcript))
	for i, m := range transcript {
		if m.m == nil {
			return nil, fmt.Errorf("message %d: %w: no content", i, ErrUnstorable)
		}
		if m.m.role != unstoredRole {
			rows = append(rows, m)
		}
	}
	return rows, nil
}

// writing is one call that writes a session. It alone writes it.
type writing struct {
	st    *Store
	id    string
	dir   *sessiondir.Dir
	made  bool     // the directory is new
	born  bool     // there is no metadata yet
	wrote []string // base names, in order
}

// write runs do as the only writer of session id, whose directory it makes
// when there is none, and makes durable what do wrote.
func (st *Store) write(ctx context.Context, op, id string, do func(*writing) error) error {
	err := st.tryWrite(ctx, id, true, do)
	return wrap(op, id, err)
}

// rewrite is write for a session that must exist.
func (st *Store) rewrite(ctx context.Context, op, id string, do func(*writing) error) error {
	return wrap(op, id, st.tryWrite(ctx, id, false, do))
}

func (st *Store) tryWrite(ctx context.Context, id string, make bool, do func(*writing) error) (err error) {
	if err := checkID(id); err != nil {
		return err
	}
	done, err := st.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	leave, err := st.enter(ctx, id)
	if err != nil {
		return err
	}
	defer leave()
	w := &writing{st: st, id: id}
	if make {
		w.dir, w.made, err = st.base.Make(id)
	} else {
		w.dir, err = st.openDir(id)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.dir.Close()) }()
	w.born = !w.has(sessiondir.Metadata) && !w.has(sessiondir.Backup(sessiondir.Metadata))
	if err := do(w); err != nil {
		return err
	}
	if err := st.settle(w.dir, w.made); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	st.changed(id, Wrote, w.wrote...)
	return nil
}

func (w *writing) has(name string) bool {
	_, err := w.dir.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// replaceTranscript makes rows the transcript. md is the metadata on disk.
func (w *writing) replaceTranscript(rows []Message, md Metadata) error {
	t := readTranscript(w.dir, md)
	if err := w.protect(&t.main, &t.backup, t.from); err != nil {
		return err
	}
	return w.replace(sessiondir.Transcript, func(out io.Writer) error {
		buf := bufio.NewWriterSize(out, 256<<10)
		for _, m := range rows {
			buf.Write(m.m.raw)
			buf.WriteByte('\n')
		}
		return buf.Flush()
	})
}

// replaceMetadata makes content the metadata, unless it is already.
func (w *writing) replaceMetadata(m *metadataFile, content []byte) error {
	if m.main.sound() && bytes.Equal(m.main.data, content) {
		return nil
	}
	from := &m.main
	if !m.main.sound() && m.backup.sound() {
		from = &m.backup
	}
	if err := w.protect(&m.main, &m.backup, from); err != nil {
		return err
	}
	return w.replace(sessiondir.Metadata, func(out io.Writer) error {
		_, err := out.Write(content)
		return err
	})
}

// protect prepares the replacement of main: a sound main becomes the backup;
// damaged bytes are put aside; a backup that was read in the place of main
// stays. A backup that main, being empty, is about to replace without having
// been part of it, is put aside.
func (w *writing) protect(main, backup, from *file) error {
	var asides []string
	switch {
	case main.sound() && from != backup:
		if len(main.data) == 0 && backup.found && (backup.bad != nil || len(backup.data) > 0) {
			asides = append(asides, backup.name)
		}
	case main.bad != nil:
		asides = append(asides, main.name)
		if backup.bad != nil {
			asides = append(asides, backup.name)
		}
	case backup.bad != nil:
		asides = append(asides, backup.name)
	}
	for _, name := range asides {
		kept, err := w.dir.PutAside(name)
		if err != nil {
			return fmt.Errorf("put damaged %s aside: %w", name, err)
		}
		w.st.log.Warn("put damaged file aside", "session", w.id, "file", kept)
	}
	if !main.sound() || from == backup {
		return nil
	}
	if err := w.dir.Rotate(main.name, w.st.sync()); err != nil {
		return fmt.Errorf("back up %s: %w", main.name, err)
	}
	return nil
}

func (w *writing) replace(name string, write func(io.Writer) error) error {
	if err := w.dir.Replace(name, w.st.sync(), write); err != nil {
		return err
	}
	w.wrote = append(w.wrote, name)
	return nil
}

// born completes the metadata of a new session, as the reference's command
// line does: existing members first.
func (st *Store) born(id string, md Metadata, rows []Message) Metadata {
	turns := 0
	for _, m := range rows {
		if m.m.role == userRole {
			turns++
		}
	}
	full := must(NewMetadata(struct {
		ID      string `json:"session_id"`
		Created string `json:"created"`
		Bundle  string `json:"bundle"`
		Model   string `json:"model"`
		Turns   int    `json:"turn_count"`
		Dir     string `json:"working_dir"`
	}{id, pytime.Format(st.opts.Now().UTC().Truncate(time.Microsecond)), "unknown", "unknown", turns, st.workspace()}))
	for _, m := range full.members {
		if md.index(m.name) < 0 {
			md.set(m)
		}
	}
	return md
}

// workspace returns the directory that new sessions belong to.
func (st *Store) workspace() string {
	dir := st.opts.Workspace
	if dir == "" {
		dir, _ = os.Getwd() // a process without a working directory has none to tell
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}

// Create makes a new session with an empty transcript and md, completed as by
// [Store.Save]. The error Is fs.ErrExist when there is one already.
func (st *Store) Create(ctx context.Context, id string, md Metadata) error {
	return st.write(ctx, "create", id, func(w *writing) error {
		if !w.made {
			return fs.ErrExist
		}
		content, err := st.born(id, md, nil).file(st.opts.Portable)
		if err != nil {
			return fmt.Errorf("encode metadata: %w", err)
		}
		if err := w.replace(sessiondir.Transcript, func(io.Writer) error { return nil }); err != nil {
			return err
		}
		return w.replaceMetadata(&metadataFile{}, content)
	})
}
