package sessionstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Save makes transcript and md the state of the session, which is made when
// there is none. What stood there becomes the backup.
//
// A transcript that extends the one on disk costs its new messages only; any
// other is written whole. Messages with role system or developer are not
// stored. Of metadata, members that only the disk has stay
// ([Store.UpdateMetadata] removes them), and the disk decides name,
// description and what belongs to them; values of secret keys are stored as
// "[REDACTED]". What is equal to the disk is not written. The zero Metadata
// gives a new session session_id, created, bundle, model, turn_count and
// working_dir; any other is stored as it is.
//
// The last writer wins; what it replaced stands in the backup. A damaged file
// is kept aside as <name>.damaged-<time of its last change> and never becomes
// a backup. ctx is honoured until the first file changes its name. After an
// error either state may stand, whole.
func (st *Store) Save(ctx context.Context, id string, transcript []Message, md Metadata) error {
	return st.writeOwned(ctx, "save", id, mayMake, func(w *writing) error {
		meta := w.metadata()
		if meta.none() && md.none() {
			md = st.born(id, md, transcript)
		}
		merged := func(disk *metadataFile) ([]byte, error) {
			own := md
			if disk.damage == nil {
				own = merge(disk.md, md)
			}
			content, err := own.file(st.opts.Portable)
			if err != nil {
				return nil, fmt.Errorf("encode metadata: %w", err)
			}
			return content, nil
		}
		content, err := merged(&meta)
		if err != nil {
			return err
		}
		t, err := w.transcript(meta.md)
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.saveOver(t, transcript); err != nil {
			return err
		}
		return w.saveMetadata(&meta, content, merged)
	})
}

// Create makes a new session with an empty transcript and md, which
// gets what it lacks of session_id, created, bundle, model, turn_count and
// working_dir. The error Is fs.ErrExist when there is one already; a
// directory in which nothing was saved yet is none.
func (st *Store) Create(ctx context.Context, id string, md Metadata) error {
	return st.writeOwned(ctx, "create", id, mayMake, func(w *writing) error {
		if !w.made && !w.vacant() {
			return fs.ErrExist
		}
		content, err := st.born(id, md, nil).file(st.opts.Portable)
		if err != nil {
			return fmt.Errorf("encode metadata: %w", err)
		}
		if err := w.writeRows(nil, nil); err != nil {
			return err
		}
		return w.replaceMetadata(&metadataFile{}, content)
	})
}

// vacant reports whether nothing has been saved in the directory: it is what
// a failed Create leaves, or holds another tool's events alone.
func (w *writing) vacant() bool {
	meta := w.metadata()
	if !meta.none() || w.has(sessiondir.Backup(sessiondir.Transcript)) {
		return false
	}
	at, err := w.dir.Stat(sessiondir.Transcript)
	return errors.Is(err, fs.ErrNotExist) || err == nil && at.Size == 0
}
