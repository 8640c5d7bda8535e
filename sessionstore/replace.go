package sessionstore

import (
	"context"
	"errors"

	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
)

// Replace makes messages the transcript, if it still is the one of revision
// old; else the error Is [ErrConflict] and nothing changes. What was replaced
// becomes the backup. Metadata stays as it is.
func (st *Store) Replace(ctx context.Context, id string, old Revision, messages []Message) (Revision, error) {
	now := Revision{}
	err := st.writeOwned(ctx, "replace transcript of", id, mustExist, func(w *writing) error {
		t, err := w.transcript(w.metadata().md)
		if err != nil {
			return err
		}
		if t.revision() != old {
			return ErrConflict
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err = w.saveTranscript(t, messages)
		if errors.Is(err, sessiondir.ErrOvertaken) {
			return ErrConflict
		}
		if err != nil {
			return err
		}
		written := w.read(Metadata{})
		now = written.revision()
		return nil
	})
	return now, err
}

// Revision identifies the transcript as [Store.Load] would read it.
func (st *Store) Revision(ctx context.Context, id string) (Revision, error) {
	done, err := st.begin(ctx)
	if err != nil {
		return Revision{}, wrap("read", id, err)
	}
	defer done()
	dir, err := st.openDir(id)
	if err != nil {
		return Revision{}, wrap("read", id, err)
	}
	kept := st.session(id)
	t := st.transcriptOf(kept, dir, id, st.metadataOf(kept, dir, id).md)
	if err := also(t.damage, dir.Close()); err != nil {
		return t.revision(), wrap("read", id, err)
	}
	return t.revision(), nil
}
