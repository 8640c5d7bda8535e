package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Inside is a store as the other packages of this module see it: those that
// keep files of their own in its session directories, and those that change
// several files of a session at once. Its methods hand out what cannot be
// imported from outside of the module.
type Inside struct{ st *Store }

// Inside returns the store for the packages of this module.
func (st *Store) Inside() Inside { return Inside{st} }

// Open is the function [Open] for tests: seam sees what changes the disk.
func (Inside) Open(dir string, opts *Options, seam *fault.Seam) (*Store, error) {
	return open(dir, opts, seam)
}

// From returns the row of a message from the value of a member on, with what
// follows it in the row, and nil where there is no such member. It is not a
// copy, so nobody may change it. Any store, also the zero Inside, can tell it.
func (Inside) From(m Message, name string) []byte { return m.from(name) }

// Blocks is From for content that is a list, nil where it is known to be of
// text alone.
func (Inside) Blocks(m Message) []byte { return m.blocks() }

// Now returns the store's time.
func (in Inside) Now() time.Time { return in.st.opts.Now() }

// Log returns the store's logger, which is never nil.
func (in Inside) Log() *slog.Logger { return in.st.log }

// Sync reports whether content is synced before it is acknowledged.
func (in Inside) Sync() bool { return in.st.opts.Durability != Relaxed }

// Workspace returns the directory that new sessions belong to.
func (in Inside) Workspace() string { return in.st.workspace() }

// Read runs do with the directory of session id. It takes no lock.
func (in Inside) Read(ctx context.Context, id string, do func(*sessiondir.Dir) error) error {
	done, err := in.st.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	dir, err := in.st.openDir(id)
	if err != nil {
		return err
	}
	return also(do(dir), dir.Close())
}

// Change runs do as the only writer of the existing session id. When it
// returns nil, the names that do told of are durable if the store promises
// that, and OnChange knows of them. Errors are not wrapped in [*Error].
func (in Inside) Change(ctx context.Context, id string, do func(*Work) error) error {
	s, start := in.st.session(id), in.st.clock()
	return in.st.called(ctx, "change", id, start, in.st.alone(ctx, s, id, func() error {
		return in.st.locked(ctx, s, id, mustExist, func(w *writing) error { return do(&Work{w: w}) })
	}))
}

// ChangeOwned is Change for what changes the transcript, which only the owner
// of a session may.
func (in Inside) ChangeOwned(ctx context.Context, id string, do func(*Work) error) error {
	s, start := in.st.session(id), in.st.clock()
	return in.st.called(ctx, "change", id, start, in.st.alone(ctx, s, id, func() error {
		return in.st.owned(ctx, s, id, mustExist, func(w *writing) error { return do(&Work{w: w}) })
	}))
}

// Make runs do in the directory of the new session id, which appears, whole
// and under its name, when do returns nil, and not at all when do fails. The
// error Is fs.ErrExist when there is one already, whatever is in it.
func (in Inside) Make(ctx context.Context, id string, do func(*Work) error) error {
	s := in.st.session(id)
	return in.st.alone(ctx, s, id, func() error {
		if in.st.base.Has(id) {
			return fs.ErrExist
		}
		return in.st.locked(ctx, s, id, mayMake, func(w *writing) error {
			if !w.made {
				return fs.ErrExist
			}
			return do(&Work{w: w})
		})
	})
}

// Work is one call that writes a session, of which it is the only writer. It
// must not be used after the call.
type Work struct {
	w *writing
	t *transcript // as Transcript read it
}

// Dir returns the session's directory.
func (k *Work) Dir() *sessiondir.Dir { return k.w.dir }

// Changed tells that the content of the file name was changed, and synced
// where [Inside.Sync] asks for that.
func (k *Work) Changed(name string) { k.w.wrote = append(k.w.wrote, name) }

// Renamed tells that the name itself is new or leads to another file.
func (k *Work) Renamed(name string) {
	k.w.names = true
	k.Changed(name)
}

// Metadata returns the metadata on disk, recovered as by [Store.Load].
func (k *Work) Metadata() (Metadata, error) {
	m := k.w.metadata()
	return m.md, m.damage
}

// SetMetadata makes md the metadata, exactly. What stood there becomes the backup.
func (k *Work) SetMetadata(md Metadata) error {
	content, err := md.file(k.w.st.opts.Portable)
	if err != nil {
		return fmt.Errorf("encode metadata: %w", err)
	}
	m := metadataFile{}
	if !k.w.made {
		m = k.w.metadata()
	}
	return conflict(k.w.replaceMetadata(&m, content))
}

// Transcript returns the transcript on disk, with what could be read beside an
// error that Is [ErrCorrupt].
func (k *Work) Transcript() ([]Message, Revision, error) {
	t, err := k.w.transcript(k.w.metadata().md)
	if err != nil {
		return nil, Revision{}, err
	}
	k.t = t
	return slices.Clone(t.rows), t.revision(), t.damage
}

// SetTranscript makes rows, all of them, the transcript in the place of the one that
// Transcript returned, which becomes the backup. The error Is [ErrConflict]
// when another writer came between.
func (k *Work) SetTranscript(rows []Message) error {
	for i, m := range rows {
		if m.m == nil {
			return zeroMessage(i)
		}
	}
	return conflict(k.w.writeRows(k.t, rows))
}

// Recovered tells that Transcript read the backup, and why. Nil: it did not.
func (k *Work) Recovered() *Recovery {
	if k.t == nil {
		return nil
	}
	return k.t.recovered
}

// Messages returns the messages of the file name, which is made up like a
// transcript, with what could be read beside an error that Is [ErrCorrupt].
func (k *Work) Messages(name string) ([]Message, error) {
	f := readFile(k.w.dir, name)
	if !f.found {
		return nil, fs.ErrNotExist
	}
	rows := f.parseRows()
	return rows, asError(f.bad)
}

// Restore makes the bytes of the file name the transcript in the place of the
// one that Transcript returned, which becomes the backup. The error Is
// [ErrConflict] when another writer came between.
func (k *Work) Restore(name string) error { return conflict(k.w.restoreFrom(k.t, name)) }

func conflict(err error) error {
	if errors.Is(err, sessiondir.ErrOvertaken) {
		return ErrConflict
	}
	return err
}
